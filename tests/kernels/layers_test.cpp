#include "ticopd/kernels/layers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/instruction_sets.hpp"
#include "objectives/made_up.hpp"

namespace ticopd {
namespace {

// Rows of numbers that are equal in float and double, padded as kernels pad them.
template <class T>
struct Rows {
  Rows(std::size_t rows, std::size_t samples, std::uint32_t stream)
      : memory(rows * lane_stride(samples)), lanes{memory.data(), lane_stride(samples), samples} {
    std::fill_n(memory.data(), memory.size(), T(0));
    const auto values = made_up::normals<float>(rows * samples, stream);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t i = 0; i < samples; ++i)
        lanes.row(r)[i] = static_cast<T>(values[r * samples + i]);
  }
  Aligned<T> memory;
  Lanes<T> lanes;
};

template <class T>
std::vector<T> numbers(std::size_t count, std::uint32_t stream) {
  const auto values = made_up::normals<float>(count, stream);
  return {values.begin(), values.end()};
}

void expect_rows_near(const Rows<float>& got, const Rows<double>& want, std::size_t rows,
                      double room) {
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < want.lanes.count; ++i)
      ASSERT_NEAR(static_cast<double>(got.lanes.row(r)[i]), want.lanes.row(r)[i], room)
          << "row " << r << ", sample " << i << " of " << want.lanes.count;
}

struct Size {
  std::size_t rows, inner, samples;
};
const std::vector<Size> sizes{{1, 1, 1},   {10, 100, 33}, {7, 3, 16},   {10, 17, 47},
                              {23, 5, 32}, {3, 100, 129}, {12, 31, 512}};

// Compares all steps of one pass in float with the plain layers in double.
void expect_like_double(const Layers<float>& math, Activation phi) {
  const Layers<double>& exact = plain_layers<double>();
  for (const auto& [rows, inner, samples] : sizes) {
    SCOPED_TRACE(testing::Message() << rows << " x " << inner << ", " << samples << " samples");
    const auto w = numbers<float>(rows * inner, 1);
    const std::vector<double> w2(w.begin(), w.end());
    const auto b = numbers<float>(inner, 2);
    const std::vector<double> b2(b.begin(), b.end());
    Rows<float> h(inner, samples, 3), out(rows, samples, 9), lost(rows, samples, 8);
    Rows<double> h2(inner, samples, 3), out2(rows, samples, 9), lost2(rows, samples, 8);
    math.activate(phi, b.data(), inner, h.lanes);
    exact.activate(phi, b2.data(), inner, h2.lanes);
    expect_rows_near(h, h2, inner, 1e-6);
    math.multiply(w.data(), rows, inner, h.lanes, out.lanes, lost.lanes);
    exact.multiply(w2.data(), rows, inner, h2.lanes, out2.lanes, lost2.lanes);
    expect_rows_near(out, out2, rows, 2e-6 * static_cast<double>(inner));

    const Rows<float> delta(rows, samples, 4);
    const Rows<double> delta2(rows, samples, 4);
    auto g = numbers<float>(rows * inner, 5), gb = numbers<float>(rows, 6);
    auto g2 = numbers<double>(rows * inner, 5), gb2 = numbers<double>(rows, 6);
    math.outer(delta.lanes, rows, h.lanes, inner, g.data());
    exact.outer(delta2.lanes, rows, h2.lanes, inner, g2.data());
    EXPECT_LT(made_up::relative_distance(g, g2), 1e-6);
    math.row_sums(delta.lanes, rows, gb.data());
    exact.row_sums(delta2.lanes, rows, gb2.data());
    EXPECT_LT(made_up::relative_distance(gb, gb2), 2e-6);
    math.back(phi, w.data(), rows, inner, delta.lanes, h.lanes);
    exact.back(phi, w2.data(), rows, inner, delta2.lanes, h2.lanes);
    expect_rows_near(h, h2, inner, 3e-6 * static_cast<double>(rows));
  }
}

constexpr Activation all_activations[] = {Activation::sigmoid, Activation::tanh, Activation::relu};

TEST(Layers, PlainFloatLayersAgreeWithDouble) {
  for (const Activation phi : all_activations) expect_like_double(plain_layers<float>(), phi);
}

TEST(Layers, VectorLayersOfEveryInstructionSetAgreeWithDouble) {
  on_every_instruction_set([] {
    for (const Activation phi : all_activations) expect_like_double(vector_layers(), phi);
  });
}

TEST(Layers, NanReachesExactlyTheResultsItFeeds) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Layers<float>* math : {&plain_layers<float>(), &vector_layers()})
    for (const Activation phi : all_activations) {
      Rows<float> h(4, 20, 1), out(3, 20, 2), lost(3, 20, 2);
      const auto w = numbers<float>(12, 3), b = numbers<float>(4, 4);
      h.lanes.row(2)[18] = nan;
      math->activate(phi, b.data(), 4, h.lanes);
      math->multiply(w.data(), 3, 4, h.lanes, out.lanes, lost.lanes);
      for (std::size_t r = 0; r < 3; ++r) {
        EXPECT_TRUE(std::isnan(out.lanes.row(r)[18]));
        EXPECT_FALSE(std::isnan(out.lanes.row(r)[17]));
        EXPECT_FALSE(std::isnan(out.lanes.row(r)[19]));
      }
      math->back(phi, w.data(), 3, 4, out.lanes, h.lanes);
      EXPECT_TRUE(std::isnan(h.lanes.row(0)[18]));
      EXPECT_FALSE(std::isnan(h.lanes.row(0)[16]));
    }
}

// The rounding error of a sum is kept, so that the gradient of a well-fitted shard stays accurate.
TEST(Layers, SumWithItsRoundingErrorIsMoreAccurateThanFloat) {
  const std::size_t inner = 300, samples = 200;
  Rows<float> in(inner, samples, 3), out(1, samples, 9), lost(1, samples, 8);
  const auto w = numbers<float>(inner, 1);
  for (const Layers<float>* math : {&plain_layers<float>(), &vector_layers()}) {
    math->multiply(w.data(), 1, inner, in.lanes, out.lanes, lost.lanes);
    double ours = 0, in_a_row = 0;
    for (std::size_t i = 0; i < samples; ++i) {
      double exact = 0;
      float sum = 0;
      for (std::size_t k = 0; k < inner; ++k) {
        exact += static_cast<double>(w[k]) * static_cast<double>(in.lanes.row(k)[i]);
        sum += w[k] * in.lanes.row(k)[i];
      }
      const double both =
          static_cast<double>(out.lanes.at[i]) + static_cast<double>(lost.lanes.at[i]);
      ours += std::pow(both - exact, 2);
      in_a_row += std::pow(static_cast<double>(sum) - exact, 2);
    }
    EXPECT_LT(std::sqrt(ours), 0.3 * std::sqrt(in_a_row));
  }
}

TEST(Layers, SigmoidIsAccurateAtBothEnds) {
  for (const float x : {-1000.0f, -88.0f, -20.0f, 0.0f, 20.0f, 88.0f, 1000.0f}) {
    Rows<float> v(1, 1, 1);
    v.lanes.at[0] = x;
    const float zero = 0.0f;
    vector_layers().activate(Activation::sigmoid, &zero, 1, v.lanes);
    EXPECT_NEAR(v.lanes.at[0], 1.0 / (1.0 + std::exp(-static_cast<double>(x))), 1e-7) << x;
    EXPECT_GE(v.lanes.at[0], 0.0f);
  }
}

}  // namespace
}  // namespace ticopd
