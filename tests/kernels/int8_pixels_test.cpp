// The int8 kernel for pixels, in emulation on any machine and in hardware if it has AMX.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "objectives/made_up.hpp"
#include "ticopd/error.hpp"
#include "ticopd/kernels/amx_probe.hpp"
#include "ticopd/kernels/base256.hpp"
#include "ticopd/kernels/features.hpp"

namespace ticopd {
namespace {

struct Shape {
  std::size_t samples, features, outputs;
};

// Ink becomes rarer with the pixel index and reaches differently far in each sample. Every seventh
// pixel and every ninth sample has no ink.
Dataset<float> images(const Shape& s, std::uint32_t stream = 21) {
  Generator draw = made_up::generator(stream);
  std::vector<std::uint8_t> x(s.samples * s.features);
  for (std::size_t i = 0; i < s.samples; ++i) {
    const double reach = (0.2 + draw.uniform()) * static_cast<double>(s.features);
    for (std::size_t k = 0; k < s.features; ++k) {
      const std::size_t place = k * 31 % s.features;  // so that the staircase must sort the pixels
      const bool inked = static_cast<double>(place) < reach && draw.uniform() < 0.5;
      if (inked && k % 7 != 3 && i % 9 != 4)
        x[i * s.features + k] =
            static_cast<std::uint8_t>(draw.below(3) == 0 ? 255 : draw.below(256));
    }
  }
  return {s.samples, s.features, std::move(x), std::vector<double>(s.samples)};
}

struct Swept {
  std::vector<float> z, g;  // outputs x samples, outputs x features
};

// Sweeps over blocks that start at `cuts` and adds their gradients. The model replaces z by deltas,
// and writes other values behind them, which must not count.
Swept sweep(const Features<float>& x, const Shape& s, const std::vector<float>& w,
            const std::vector<float>& delta, std::vector<std::size_t> cuts = {0}) {
  Swept all{std::vector<float>(s.outputs * s.samples, 77.0f),
            std::vector<float>(s.outputs * s.features)};
  cuts.push_back(s.samples);
  for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
    std::vector<float> g(all.g.size(), 55.0f);
    const auto model = [&](std::size_t first, Lanes<float> z) {
      for (std::size_t j = 0; j < s.outputs; ++j)
        for (std::size_t i = 0; i < whole_groups(z.count); ++i) {
          float& at = z.row(j)[i];
          if (i >= z.count) {
            EXPECT_EQ(at, 0.0f) << "padding";
            at = 1e9f;
            continue;
          }
          const std::size_t sample = x.order()[first + i];
          all.z[j * s.samples + sample] = at;
          at = delta[j * s.samples + sample];
        }
    };
    x.sweep(cuts[b], cuts[b + 1], w.data(), model, g.data());
    for (std::size_t k = 0; k < g.size(); ++k) all.g[k] += g[k];
  }
  return all;
}

// Checks, for each output and column, the sum over k of row(k) x(k, column). The tolerance is 3e-7
// times the row's largest entry times the sum of the pixels.
void expect_product(const std::vector<float>& got, const std::vector<float>& rows,
                    std::size_t outputs, std::size_t entries, std::size_t columns,
                    const std::function<double(std::size_t, std::size_t)>& x, double norm_room) {
  double error = 0.0, norm = 0.0;
  for (std::size_t j = 0; j < outputs; ++j) {
    double largest = 0.0;
    for (std::size_t k = 0; k < entries; ++k)
      largest = std::max(largest, std::fabs(static_cast<double>(rows[j * entries + k])));
    for (std::size_t c = 0; c < columns; ++c) {
      double want = 0.0, ink = 0.0;
      for (std::size_t k = 0; k < entries; ++k) {
        want += static_cast<double>(rows[j * entries + k]) * x(k, c);
        ink += x(k, c);
      }
      const double e = static_cast<double>(got[j * columns + c]) - want;
      ASSERT_LE(std::fabs(e), 3e-7 * largest * ink) << "output " << j << ", column " << c;
      error += e * e;
      norm += want * want;
    }
  }
  EXPECT_LE(std::sqrt(error), norm_room * std::sqrt(norm));
}

void expect_both_products(const Shape& s, const std::vector<float>& w,
                          const std::vector<float>& delta, double norm_room = 3e-7) {
  SCOPED_TRACE(testing::Message() << s.samples << " samples, " << s.features << " features, "
                                  << s.outputs << " outputs");
  const Dataset<float> data = images(s);
  const auto& ink = std::get<std::vector<std::uint8_t>>(data.raw());
  const auto x = int8_pixels_emulated(data, s.outputs, Sweeps::gradients);
  const Swept got = sweep(*x, s, w, delta);
  const auto pixel = [&](std::size_t i, std::size_t k) { return ink[i * s.features + k] / 255.0; };
  expect_product(
      got.z, w, s.outputs, s.features, s.samples,
      [&](std::size_t k, std::size_t i) { return pixel(i, k); }, norm_room);
  expect_product(got.g, delta, s.outputs, s.samples, s.features, pixel, norm_room);
}

std::vector<float> weights(const Shape& s, double scale = 0.1) {
  return made_up::normals<float>(s.outputs * s.features, 5, scale);
}
std::vector<float> deltas(const Shape& s, double scale = 1e-3) {
  return made_up::normals<float>(s.outputs * s.samples, 6, scale);
}

TEST(DigitPixels, BothProductsAreRightForAnyNumberOfSamplesAndPixels) {
  for (const std::size_t samples : {1, 63, 64, 65, 513, 1100})
    for (const std::size_t features : {1, 64, 65, 784}) {
      if (samples > 513 && features == 784) continue;  // covered below
      const Shape s{samples, features, 17};
      expect_both_products(s, weights(s), deltas(s));
    }
}

TEST(DigitPixels, BothProductsAreRightForAnyNumberOfOutputs) {
  for (const std::size_t outputs : {1, 8, 10, 16, 17, 31, 32, 33, 130, 300}) {
    const Shape s{150, 130, outputs};
    expect_both_products(s, weights(s), deltas(s));
  }
  const Shape mnist{1100, 784, 100};
  expect_both_products(mnist, weights(mnist), deltas(mnist));
}

TEST(DigitPixels, AreEquallyAccurateAtEveryScale) {
  const Shape s{600, 200, 20};
  for (const double scale : {1e-36, 1e-30, 1e-20, 1e-6, 1.0, 1e20, 1e30})
    expect_both_products(s, weights(s, scale), deltas(s, scale));
}

// Late in training a few weights are large; the tolerance is relative to the largest of the row.
TEST(DigitPixels, AreAccurateRelativeToTheLargestEntry) {
  const Shape s{600, 200, 20};
  auto w = weights(s), delta = deltas(s);
  for (std::size_t k = 0; k < w.size(); ++k) w[k] *= std::exp2(-static_cast<float>(k % 37));
  for (std::size_t k = 0; k < delta.size(); ++k) delta[k] *= std::exp2(-static_cast<float>(k % 41));
  expect_both_products(s, w, delta, 1e-6);
}

TEST(DigitPixels, RowsOfZerosGiveExactZeros) {
  const Shape s{200, 100, 10};
  auto w = weights(s), delta = deltas(s);
  std::fill_n(w.begin() + 4 * 100, 100, 0.0f);
  std::fill_n(delta.begin() + 6 * 200, 200, 0.0f);
  const Swept got = sweep(*int8_pixels_emulated(images(s), 10, Sweeps::gradients), s, w, delta);
  for (std::size_t i = 0; i < s.samples; ++i) EXPECT_EQ(got.z[4 * s.samples + i], 0.0f);
  for (std::size_t k = 0; k < s.features; ++k) EXPECT_EQ(got.g[6 * s.features + k], 0.0f);
}

TEST(DigitPixels, ImagesWithoutInkGiveZeros) {
  const Shape s{70, 30, 10};
  const Dataset<float> dark(70, 30, std::vector<std::uint8_t>(70 * 30), std::vector<double>(70));
  const auto x = int8_pixels_emulated(dark, 10, Sweeps::gradients);
  const Swept got = sweep(*x, s, weights(s), deltas(s));
  EXPECT_EQ(got.z, std::vector<float>(700, 0.0f));
  EXPECT_EQ(got.g, std::vector<float>(300, 0.0f));
}

TEST(DigitPixels, PixelsWithoutInkAreNotReadAndHaveNoGradient) {
  const Shape s{100, 50, 10};
  auto w = weights(s);
  const auto x = int8_pixels_emulated(images(s), 10, Sweeps::gradients);
  const Swept before = sweep(*x, s, w, deltas(s));
  for (std::size_t k = 3; k < w.size(); k += 50)
    w[k] = k % 100 < 50 ? std::nanf("") : std::numeric_limits<float>::infinity();
  const Swept after = sweep(*x, s, w, deltas(s));
  EXPECT_EQ(after.z, before.z);
  for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(after.g[j * 50 + 3], 0.0f);
}

// 600 samples have ink in only 40 pixels, so one tile contains none of the other pixels.
TEST(DigitPixels, NanOrInfinityReachesExactlyTheResultsOfItsRow) {
  const Shape s{700, 200, 10};
  std::vector<std::uint8_t> ink(s.samples * s.features);
  for (std::size_t i = 0; i < s.samples; ++i)
    for (std::size_t k = 0; k < (i < 600 ? 40u : 199u); ++k) ink[i * s.features + k] = 9;
  const Dataset<float> data(s.samples, s.features, std::move(ink), std::vector<double>(s.samples));
  const auto x = int8_pixels_emulated(data, s.outputs, Sweeps::gradients);
  for (const float bad : {std::nanf(""), -std::numeric_limits<float>::infinity()})
    for (const std::size_t sample : {0u, 699u}) {
      auto w = weights(s), delta = deltas(s);
      w[2 * s.features + (sample == 0 ? 0 : 198)] = bad;
      delta[7 * s.samples + sample] = bad;
      const Swept got = sweep(*x, s, w, delta);
      for (std::size_t j = 0; j < s.outputs; ++j) {
        for (std::size_t i = 0; i < s.samples; ++i)
          ASSERT_EQ(std::isnan(got.z[j * s.samples + i]), j == 2) << j << ',' << i;
        for (std::size_t k = 0; k < s.features; ++k)
          ASSERT_EQ(std::isnan(got.g[j * s.features + k]), j == 7 && k != 199) << j << ',' << k;
      }
    }
}

TEST(DigitPixels, SweepsInBlocksGiveTheSameOutputs) {
  const Shape s{1100, 150, 20};
  const auto w = weights(s), delta = deltas(s);
  const auto x = int8_pixels_emulated(images(s), 20, Sweeps::gradients);
  const Swept whole = sweep(*x, s, w, delta);
  for (const std::vector<std::size_t>& cuts :
       {std::vector<std::size_t>{0, 64}, {0, 512, 1024}, {0, 192, 256, 896, 1088}}) {
    const Swept blocks = sweep(*x, s, w, delta, cuts);
    EXPECT_EQ(blocks.z, whole.z);
    EXPECT_LE(made_up::relative_distance(blocks.g, whole.g), 3e-7);
  }
  const Swept again = sweep(*x, s, w, delta);
  EXPECT_EQ(again.z, whole.z);
  EXPECT_EQ(again.g, whole.g);
}

// A block may end anywhere; samples behind its end in the last tile do not count.
TEST(DigitPixels, BlockMayEndWithinATile) {
  const Shape s{300, 80, 10};
  const auto w = weights(s), delta = deltas(s);
  const auto x = int8_pixels_emulated(images(s), 10, Sweeps::gradients);
  for (const std::size_t last : {65u, 100u, 299u}) {
    auto some = delta;
    for (std::size_t j = 0; j < 10; ++j)
      for (std::size_t at = last; at < 300; ++at) some[j * 300 + x->order()[at]] = 0.0f;
    const Swept want = sweep(*x, s, w, some);
    std::vector<float> g(10 * 80);
    std::size_t seen = 0;
    const auto model = [&](std::size_t first, Lanes<float> z) {
      seen += z.count;
      for (std::size_t j = 0; j < 10; ++j)
        for (std::size_t i = 0; i < z.count; ++i)
          z.row(j)[i] = delta[j * 300 + x->order()[first + i]];
    };
    x->sweep(0, last, w.data(), model, g.data());
    EXPECT_EQ(seen, last);
    EXPECT_EQ(g, want.g) << last;
  }
}

TEST(DigitPixels, MiniBatchesReadTheSamePixels) {
  const Shape s{90, 100, 10};
  const Dataset<float> data = images(s);
  const auto x = int8_pixels_emulated(data, 10, Sweeps::values);
  const std::vector<std::uint32_t> positions{89, 0, 33, 33, 64};
  std::vector<float> w(10 * 100), row(100);
  for (std::size_t k = 0; k < 100; ++k) {  // one pixel at a time
    std::fill(w.begin(), w.end(), 0.0f);
    w[k] = 1.0f;
    x->sweep_list(
        positions, w.data(),
        [&](std::size_t, Lanes<float> z) {
          for (std::size_t i = 0; i < positions.size(); ++i) {
            data.read(x->order()[positions[i]], 1, row.data());
            EXPECT_FLOAT_EQ(z.row(0)[i], row[k]);
          }
        },
        nullptr);
  }
}

TEST(DigitPixels, StoreOnlyTilesUnderTheStaircaseAndOneLayoutForValues) {
  // Half of the samples have ink only in the first 64 pixels.
  const std::size_t samples = 512, features = 640;
  std::vector<std::uint8_t> ink(samples * features);
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t k = 0; k < (i % 2 == 0 ? 64 : features); ++k) ink[i * features + k] = 1;
  const Dataset<float> data(samples, features, std::move(ink), std::vector<double>(samples));
  const auto both = int8_pixels_emulated(data, 10, Sweeps::gradients)->layouts();
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].layout, "int8 tiles forward");
  EXPECT_EQ(both[0].bytes, 256u * 64 + 256 * 640);
  EXPECT_EQ(both[1].layout, "int8 tiles backward");
  EXPECT_EQ(both[1].bytes, 256u * 64 + 256 * 640);
  const auto values = int8_pixels_emulated(data, 10, Sweeps::values);
  ASSERT_EQ(values->layouts().size(), 1u);
  std::vector<float> w(10 * features), g(w);
  const auto model = [](std::size_t, Lanes<float>) {};
  EXPECT_NO_THROW(values->sweep(0, samples, w.data(), model, nullptr));
  EXPECT_THROW(values->sweep(0, samples, w.data(), model, g.data()), std::logic_error);
}

TEST(DigitPixels, HardwareGivesTheBitsOfTheEmulation) {
  const Shape s{1100, 784, 100};
  if (!cpu_has_amx()) {
    EXPECT_THROW(int8_pixels(images(s), s.outputs, Sweeps::gradients), UnavailableError);
    GTEST_SKIP() << "this machine has no AMX";
  }
  for (const std::size_t outputs : {8u, 17u, 100u, 130u}) {
    const Shape t{s.samples, s.features, outputs};
    const auto w = weights(t), delta = deltas(t);
    const auto hard = int8_pixels(images(t), outputs, Sweeps::gradients);
    const auto soft = int8_pixels_emulated(images(t), outputs, Sweeps::gradients);
    const Swept a = sweep(*hard, t, w, delta, {0, 576}), b = sweep(*soft, t, w, delta, {0, 576});
    EXPECT_EQ(a.z, b.z);
    EXPECT_EQ(a.g, b.g);
  }
}

}  // namespace
}  // namespace ticopd
