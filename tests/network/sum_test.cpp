#include "ticopd/numeric/sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

// The tree written literally as in the wire format: blocks of 128, 16 lanes, folded in halves.
double literal_tree(const std::vector<double>& terms) {
  const auto fold_in_halves = [](std::vector<double> lanes) {
    for (std::size_t half = 8; half >= 1; half /= 2)
      for (std::size_t j = 0; j < half; ++j) lanes[j] = lanes[j] + lanes[j + half];
    return lanes[0];
  };
  std::vector<double> blocks(16, 0.0);
  for (std::size_t b = 0; b * 128 < terms.size(); ++b) {
    std::vector<double> lanes(16, 0.0);
    for (std::size_t k = 0; k < 128 && b * 128 + k < terms.size(); ++k)
      lanes[k % 16] = lanes[k % 16] + terms[b * 128 + k];
    blocks[b % 16] = blocks[b % 16] + fold_in_halves(lanes);
  }
  return fold_in_halves(blocks);
}

TEST(SumTree, EqualsTheTreeOfTheWireFormatForEveryLength) {
  for (std::size_t d = 0; d < 2500; d += d < 300 ? 1 : 97) {
    Generator random(Noise{1, static_cast<std::uint32_t>(d), 0, stream_synthetic});
    std::vector<double> terms(d);
    for (double& t : terms) t = random.normal() * std::exp(8 * random.normal());
    ASSERT_EQ(tree_sum(d, [&](std::size_t k) { return terms[k]; }), literal_tree(terms)) << d;
    std::vector<double> squares(d);
    for (std::size_t k = 0; k < d; ++k) squares[k] = terms[k] * terms[k];
    ASSERT_EQ(sum_of_squares<double>(terms), literal_tree(squares)) << d;
  }
}

TEST(SumTree, DiffersFromTheSequentialOrder) {
  std::vector<double> terms(64, 0.0);
  terms[0] = 0x1p53, terms[1] = 1, terms[16] = -0x1p53;
  double naive = 0;
  for (const double t : terms) naive += t;
  EXPECT_EQ(naive, 0) << "the 1 is lost beside 2^53";
  EXPECT_EQ(tree_sum(64, [&](std::size_t k) { return terms[k]; }), 1);
}

TEST(SumTree, SquaresFloatsInDouble) {
  const std::vector<float> v(20, 3e30f);  // its square does not fit in a float
  EXPECT_NEAR(sum_of_squares<float>(v) / 1.8e62, 1, 1e-6);
  EXPECT_EQ((sum_of_squared_differences<float>(v, v)), 0);
}

}  // namespace
}  // namespace ticopd
