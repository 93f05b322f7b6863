// Every layout of the features gives both products, forward and back, as the definition does.
#include "ticopd/kernels/features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "kernels/instruction_sets.hpp"
#include "objectives/made_up.hpp"
#include "ticopd/kernels/staircase.hpp"

namespace ticopd {
namespace {

struct Shape {
  std::size_t samples, features, outputs;
};
const std::vector<Shape> shapes{{1, 1, 1},     {1, 5, 10},    {63, 20, 8},     {64, 64, 16},
                                {65, 65, 17},  {300, 33, 10}, {700, 130, 100}, {513, 41, 130},
                                {130, 784, 3}, {257, 90, 300}};

// Mostly background, the more the higher the pixel index; some pixels and samples have no ink.
std::vector<std::uint8_t> image_bytes(std::size_t samples, std::size_t features) {
  Generator draw = made_up::generator(11);
  std::vector<std::uint8_t> x(samples * features);
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t k = 0; k < features; ++k) {
      const double ink = 0.7 * (1.0 - static_cast<double>(k) / static_cast<double>(features));
      const bool some = draw.uniform() < ink && i % 11 != 3 && k % 7 != 2;
      const auto value = static_cast<std::uint8_t>(1 + draw.below(255));
      if (some) x[i * features + k] = value;
    }
  return x;
}

// The same samples in each of the three kinds of data set.
template <class T>
Dataset<T> pixels(const Shape& s) {
  return {s.samples, s.features, image_bytes(s.samples, s.features),
          std::vector<double>(s.samples)};
}
template <class T>
Dataset<T> dense(const Shape& s) {
  std::vector<T> x;
  for (const std::uint8_t v : image_bytes(s.samples, s.features))
    x.push_back(static_cast<T>(v / 255.0));
  return {s.samples, s.features, std::move(x), std::vector<double>(s.samples)};
}
template <class T>
Dataset<T> sparse(const Shape& s) {
  const auto x = image_bytes(s.samples, s.features);
  SparseRows<T> rows;
  rows.begin.push_back(0);
  for (std::size_t i = 0; i < s.samples; ++i) {
    for (std::size_t k = 0; k < s.features; ++k)
      if (x[i * s.features + k] != 0) {
        rows.index.push_back(static_cast<std::uint32_t>(k));
        rows.value.push_back(static_cast<T>(x[i * s.features + k] / 255.0));
      }
    rows.begin.push_back(rows.index.size());
  }
  return {s.samples, s.features, std::move(rows), std::vector<double>(s.samples)};
}

template <class T>
struct Swept {
  std::vector<T> z, g;  // by output, then sample or feature
  std::size_t calls = 0;
};

// An arbitrary delta that depends on z, the sample and the output.
template <class T>
T delta_of(T z, std::size_t sample, std::size_t output) {
  return T(0.25) * z + static_cast<T>((sample * 7 + output * 3) % 13) / T(8) - T(0.75);
}

template <class T>
Swept<T> sweep(const Features<T>& x, const Shape& s, std::size_t first, std::size_t last,
               const std::vector<T>& w, bool gradient = true) {
  Swept<T> swept{std::vector<T>(s.outputs * s.samples), std::vector<T>(s.outputs * s.features, 9)};
  x.sweep(
      first, last, w.data(),
      [&](std::size_t at, Lanes<T> z) {
        ++swept.calls;
        for (std::size_t j = 0; j < s.outputs; ++j)
          for (std::size_t i = 0; i < z.count; ++i) {
            const std::size_t sample = x.order().empty() ? at + i : x.order()[at + i];
            swept.z[j * s.samples + sample] = z.row(j)[i];
            z.row(j)[i] = delta_of(z.row(j)[i], sample, j);
          }
      },
      gradient ? swept.g.data() : nullptr);
  return swept;
}

// Both products in double, written from the definition.
Swept<double> exact(const Shape& s, const std::vector<double>& w) {
  const auto bytes = image_bytes(s.samples, s.features);
  Swept<double> e{std::vector<double>(s.outputs * s.samples),
                  std::vector<double>(s.outputs * s.features)};
  for (std::size_t i = 0; i < s.samples; ++i)
    for (std::size_t j = 0; j < s.outputs; ++j) {
      const std::uint8_t* x = &bytes[i * s.features];
      double z = 0;
      for (std::size_t k = 0; k < s.features; ++k) z += w[j * s.features + k] * x[k] / 255.0;
      e.z[j * s.samples + i] = z;
      const double delta = delta_of(z, i, j);
      for (std::size_t k = 0; k < s.features; ++k) e.g[j * s.features + k] += delta * x[k] / 255.0;
    }
  return e;
}

template <class T>
using Make = std::function<std::unique_ptr<Features<T>>(const Shape&)>;

template <class T>
void expect_both_products(const Make<T>& make, double room) {
  for (const Shape& s : shapes) {
    SCOPED_TRACE(testing::Message() << s.samples << " samples, " << s.features << " features, "
                                    << s.outputs << " outputs");
    const auto weights = made_up::normals<float>(s.outputs * s.features, 5);
    const std::vector<T> w(weights.begin(), weights.end());
    const Swept<double> want = exact(s, std::vector<double>(weights.begin(), weights.end()));
    const auto x = make(s);
    const Swept<T> got = sweep(*x, s, 0, s.samples, w);
    EXPECT_LE(made_up::relative_distance(got.z, want.z), room);
    EXPECT_LE(made_up::relative_distance(got.g, want.g), room);
    EXPECT_EQ(sweep(*x, s, 0, s.samples, w, false).z, got.z);
    EXPECT_GT(x->layouts().front().bytes + s.samples, 0u);

    // Two blocks that start at multiples of the cut must give the same z, and gradients that add
    // up.
    const std::size_t middle = s.samples / 2 / Features<T>::cut * Features<T>::cut;
    const Swept<T> left = sweep(*x, s, 0, middle, w), right = sweep(*x, s, middle, s.samples, w);
    std::vector<T> sum(got.g.size());
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = left.g[k] + right.g[k];
    EXPECT_LE(made_up::relative_distance(sum, want.g), room);

    // A list of all samples, backwards.
    std::vector<std::uint32_t> list;
    for (std::size_t i = s.samples; i-- > 0;) list.push_back(static_cast<std::uint32_t>(i));
    std::vector<T> g(s.outputs * s.features, 9);
    x->sweep_list(
        list, w.data(),
        [&](std::size_t at, Lanes<T> z) {
          for (std::size_t j = 0; j < s.outputs; ++j)
            for (std::size_t i = 0; i < z.count; ++i) {
              const std::uint32_t position = list[at + i];
              const std::size_t sample = x->order().empty() ? position : x->order()[position];
              ASSERT_NEAR(z.row(j)[i], want.z[j * s.samples + sample], 1e-4);
              z.row(j)[i] = delta_of(z.row(j)[i], sample, j);
            }
        },
        g.data());
    EXPECT_LE(made_up::relative_distance(g, want.g), room);
  }
}

TEST(Features, DenseRowsGiveBothProducts) {
  expect_both_products<float>([](const Shape& s) { return dense_rows(dense<float>(s), s.outputs); },
                              5e-7);
  expect_both_products<double>(
      [](const Shape& s) { return dense_rows(dense<double>(s), s.outputs); }, 1e-14);
}

TEST(Features, StaircasePixelsGiveBothProducts) {
  expect_both_products<float>(
      [](const Shape& s) { return staircase_pixels(pixels<float>(s), s.outputs); }, 5e-7);
  expect_both_products<double>(
      [](const Shape& s) { return staircase_pixels(pixels<double>(s), s.outputs); }, 1e-14);
}

TEST(Features, SparseRowsGiveBothProducts) {
  expect_both_products<float>(
      [](const Shape& s) { return sparse_rows(sparse<float>(s), s.outputs); }, 5e-7);
  expect_both_products<double>(
      [](const Shape& s) { return sparse_rows(sparse<double>(s), s.outputs); }, 1e-14);
}

TEST(Features, SparsePixelsGiveBothProductsOnEveryInstructionSet) {
  on_every_instruction_set([] {
    expect_both_products<float>(
        [](const Shape& s) {
          return sparse_pixels(pixels<float>(s), s.outputs, Sweeps::gradients);
        },
        5e-7);
  });
}

TEST(Features, SelectedKernelGivesBothProducts) {
  expect_both_products<float>(
      [](const Shape& s) { return make_features(pixels<float>(s), s.outputs, Sweeps::gradients); },
      5e-7);
}

TEST(Features, NanInAWeightReachesTheSamplesThatUseItsPixel) {
  const Shape s{200, 30, 10};
  const auto bytes = image_bytes(s.samples, s.features);
  for (const bool sparse_kernel : {false, true}) {
    const auto x = sparse_kernel ? sparse_pixels(pixels<float>(s), 10, Sweeps::gradients)
                                 : staircase_pixels(pixels<float>(s), 10);
    auto w = made_up::normals<float>(s.outputs * s.features, 5);
    w[4 * s.features + 1] = std::nanf("");
    const Swept<float> got = sweep(*x, s, 0, s.samples, w);
    for (std::size_t i = 0; i < s.samples; ++i) {
      const bool has_it = bytes[i * s.features + 1] != 0;
      EXPECT_TRUE(!has_it || std::isnan(got.z[4 * s.samples + i])) << i;
      EXPECT_FALSE(std::isnan(got.z[3 * s.samples + i])) << i;
    }
  }
}

TEST(Features, TestSetKeepsOneLayout) {
  const Shape s{200, 30, 10};
  const auto all = sparse_pixels(pixels<float>(s), 10, Sweeps::gradients)->layouts();
  const auto values = sparse_pixels(pixels<float>(s), 10, Sweeps::values)->layouts();
  ASSERT_EQ(all.size(), 2u);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(all[0].bytes, values[0].bytes);
}

TEST(Staircase, ReachBoundsTheInkOfASampleAndNeverFalls) {
  const std::size_t samples = 90, features = 50;
  const auto x = image_bytes(samples, features);
  const Staircase stairs = staircase(x, samples, features);
  std::vector<int> seen(samples);
  for (std::size_t at = 0; at < samples; ++at) {
    const std::size_t sample = stairs.samples[at];
    ++seen[sample];
    EXPECT_GE(stairs.reach[at], stairs.reach[at > 0 ? at - 1 : 0]);
    for (std::size_t r = 0; r < stairs.pixels.size(); ++r) {
      const std::uint8_t ink = x[sample * features + stairs.pixels[r]];
      EXPECT_TRUE(r < stairs.reach[at] || ink == 0);
      EXPECT_TRUE(r + 1 != stairs.reach[at] || ink != 0);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(samples, 1));
  for (std::size_t k = 0; k < features; ++k) {
    bool inked = false;
    for (std::size_t i = 0; i < samples; ++i) inked = inked || x[i * features + k] != 0;
    const bool kept =
        std::find(stairs.pixels.begin(), stairs.pixels.end(), k) != stairs.pixels.end();
    EXPECT_EQ(kept, inked) << "pixel " << k;
  }
}

}  // namespace
}  // namespace ticopd
