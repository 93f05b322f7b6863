#include "ticopd/kernels/base256.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "objectives/made_up.hpp"
#include "ticopd/kernels/base256_product.hpp"
#include "ticopd/kernels/pixel_panels.hpp"

namespace ticopd {
namespace {

// Bytes with many extreme values: these overflow 16 bits and distinguish signed from unsigned.
std::vector<std::uint8_t> bytes(std::size_t count, std::uint32_t stream) {
  constexpr std::uint8_t extremes[]{0, 127, 128, 255};  // signed: 0, 127, -128, -1
  Generator draw = made_up::generator(stream);
  std::vector<std::uint8_t> all(count);
  for (std::uint8_t& byte : all)
    byte =
        draw.uniform() < 0.5 ? extremes[draw.below(4)] : static_cast<std::uint8_t>(draw.below(256));
  return all;
}

TEST(EmulatedTiles, MultiplySignedRowsByUnsignedColumnsInGroupsOfFour) {
  const auto a = bytes(tile_bytes, 1), b = bytes(tile_bytes, 2);
  std::vector<std::int32_t> before(256), after(256);
  for (std::size_t k = 0; k < 256; ++k) before[k] = static_cast<std::int32_t>(k) * 1000 - 99999;
  EmulatedTiles tiles;
  tiles.load<0>(before.data(), 64);
  tiles.load<4>(a.data(), 64);
  tiles.load<7>(b.data(), 64);
  tiles.multiply_add<0, 4, 7>();
  tiles.store<0>(after.data(), 64);
  for (std::size_t m = 0; m < 16; ++m)
    for (std::size_t n = 0; n < 16; ++n) {
      int sum = before[m * 16 + n];
      for (std::size_t k = 0; k < 16; ++k)
        for (std::size_t i = 0; i < 4; ++i)
          sum += static_cast<std::int8_t>(a[m * 64 + 4 * k + i]) * b[k * 64 + 4 * n + i];
      ASSERT_EQ(after[m * 16 + n], sum) << m << ',' << n;
    }
}

TEST(EmulatedTiles, LoadAndStoreRowsAtAStrideAndZeroOneRegister) {
  const auto from = bytes(16 * 80, 3);
  std::vector<std::uint8_t> to(16 * 128, 7);
  EmulatedTiles tiles;
  tiles.load<2>(from.data(), 80);
  tiles.load<3>(from.data(), 80);
  tiles.zero<3>();
  tiles.store<2>(to.data(), 128);
  tiles.store<3>(to.data() + 64, 128);
  for (std::size_t r = 0; r < 16; ++r)
    for (std::size_t k = 0; k < 64; ++k) {
      ASSERT_EQ(to[r * 128 + k], from[r * 80 + k]);
      ASSERT_EQ(to[r * 128 + 64 + k], 0);
    }
}

TEST(Digits, EveryIntegerIsRecoveredExactlyFromItsDigits) {
  constexpr std::int32_t most = 8355000;
  constexpr std::size_t steps = 500, count = steps * 64;
  std::vector<float> v(count);
  std::vector<std::int8_t> high(steps * tile_pair), middle(high), low(high);
  for (std::int32_t first = -most; first <= most; first += static_cast<std::int32_t>(count)) {
    const auto integer = [&](std::size_t k) {
      return std::min(first + static_cast<std::int32_t>(k), most);
    };
    for (std::size_t k = 0; k < count; ++k) v[k] = static_cast<float>(integer(k));
    split_digits(v.data(), steps, {1.0f, 1.0f, 1.0f}, high.data(), middle.data(), low.data());
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t at = k / 64 * tile_pair + k % 64;
      ASSERT_EQ(high[at] * 65536 + middle[at] * 256 + low[at], integer(k));
    }
  }
}

TEST(Digits, ScaleFillsThreeDigitsForRowsOfEveryMagnitude) {
  for (const float largest : {1e-44f, 1e-38f, 3e-32f, 0x1p-64f, 1e-7f, 0.3f, 1.0f, 7e12f,
                              std::numeric_limits<float>::max()}) {
    const DigitScale s = digit_scale(largest);
    const float code = std::rint(largest * s.lift * s.scale);
    EXPECT_NEAR(code, most_of_three_digits, 2.0) << largest;
    // For a pixel of 255 the product gives the largest entry back, up to the rounding of floats,
    // which are sparse near zero.
    const double back = static_cast<double>(code) * 255.0 * 0x1p-30 * static_cast<double>(s.step);
    EXPECT_NEAR(back, static_cast<double>(largest), static_cast<double>(largest) * 2e-7 + 2e-45);
  }
}

TEST(Digits, ScaleIsZeroForZerosAndNanForNonFiniteRows) {
  EXPECT_EQ(digit_scale(0.0f).step, 0.0f);
  EXPECT_TRUE(std::isnan(digit_scale(std::numeric_limits<float>::infinity()).step));
  EXPECT_TRUE(std::isnan(digit_scale(std::nanf("")).step));
}

TEST(Digits, LargestMagnitudeCountsBothSignsAndKeepsNan) {
  for (const std::size_t count : {1u, 15u, 16u, 17u, 64u, 100u})
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<float> v(count, -0.5f);
      v[at] = -3.0f;
      EXPECT_EQ(largest_magnitude(v.data(), count), 3.0f);
      v[(at + 1) % count] = -std::numeric_limits<float>::infinity();
      EXPECT_TRUE(std::isinf(largest_magnitude(v.data(), count)));
      v[at] = std::nanf("");
      EXPECT_FALSE(std::isfinite(largest_magnitude(v.data(), count)));
    }
  EXPECT_EQ(largest_magnitude(nullptr, 0), 0.0f);
}

TEST(Digits, RowsOfAnOutputAreAdjacentInPairsOfTiles) {
  const std::size_t outputs = 23, steps = 3;
  Aligned<std::int8_t> memory(DigitRows::bytes(outputs, steps));
  std::vector<float> step(outputs);
  const DigitRows rows(memory.data(), step.data(), outputs, steps);
  EXPECT_EQ(rows.row_tiles(), 5u);  // 69 rows
  const auto v = made_up::normals<float>(outputs * steps * 64, 4);
  for (std::size_t j = 0; j < outputs; ++j) EXPECT_TRUE(rows.split(j, &v[j * steps * 64]));
  for (std::size_t j = 0; j < outputs; ++j)
    for (std::size_t k = 0; k < steps * 64; ++k) {
      std::int32_t code = 0;
      for (std::size_t r = 3 * j; r < 3 * j + 3; ++r)
        code = code * 256 + rows.tiles(r / 32, k / 64)[r % 32 * 64 + k % 64];
      const double back = code * 255.0 * 0x1p-30 * static_cast<double>(step[j]);
      ASSERT_NEAR(back, static_cast<double>(v[j * steps * 64 + k]), 4e-7) << j << ',' << k;
    }
}

TEST(Digits, JoinWritesOrAddsThirtyTwoColumns) {
  std::vector<std::int32_t> sums(2 * 3 * 32);
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] = static_cast<std::int32_t>(k) - 50;
  const float step[]{0x1p30f, 0x1p31f};
  std::vector<float> out(2 * 40, 5.0f);
  const auto want = [&](std::size_t j, std::size_t c) {
    const std::int32_t* s = &sums[j * 96 + c];
    return static_cast<float>(j + 1) * static_cast<float>(s[0] * 65536 + s[32] * 256 + s[64]);
  };
  join_digits(sums.data(), 2, step, false, out.data(), 40);
  for (std::size_t c = 0; c < 40; ++c)
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_EQ(out[j * 40 + c], c < 32 ? want(j, c) : 5.0f) << j << ',' << c;
  join_digits(sums.data(), 2, step, true, out.data(), 40);
  for (std::size_t c = 0; c < 40; ++c)
    for (std::size_t j = 0; j < 2; ++j)
      EXPECT_EQ(out[j * 40 + c], c < 32 ? 2 * want(j, c) : 5.0f) << j << ',' << c;
}

TEST(PixelPanels, StoreOnlyTheirStepsInTheOrderOfTheTileUnit) {
  const PixelPanels panels({{0, 1}, {0, 3}, {2, 4}});
  EXPECT_EQ(panels.bytes(), 6 * tile_pair);
  EXPECT_EQ(panels.pair(1, 0), panels.pair(0, 0) + tile_pair);
  EXPECT_EQ(panels.pair(2, 2), panels.pair(0, 0) + 4 * tile_pair);
  // Step 1, second column tile, row 5 / 4, column 20 - 16, entry 5 % 4.
  EXPECT_EQ(&panels.entry(64 + 5, 32 + 20), panels.pair(1, 1) + 1024 + 64 + 4 * 4 + 1);
  for (std::size_t k = 0; k < panels.bytes(); ++k) ASSERT_EQ(panels.pair(0, 0)[k], 0);
}

// The sum of 70,000 products of -128 and 255 does not fit in 32 bits.
TEST(DigitProduct, SumsOfVeryManyPixelsDoNotOverflow) {
  const std::size_t steps = 1094, entries = steps * 64;
  Aligned<std::int8_t> memory(DigitRows::bytes(1, steps));
  float step = 0.0f;
  const DigitRows rows(memory.data(), &step, 1, steps);
  for (const float value : {1.0f, -1.0f}) {
    rows.split(0, std::vector<float>(entries, value).data());
    const PixelPanels panels({{0, steps}});
    std::fill_n(panels.pair(0, 0), panels.bytes(), std::uint8_t{255});
    std::vector<float> out(32);
    EmulatedTiles tiles;
    multiply_panel(tiles, rows, 0, panels.pair(0, 0), steps, false, out.data(), 32, Ahead());
    const float want = value * static_cast<float>(entries);
    for (const float z : out) ASSERT_NEAR(z, want, 3e-7f * static_cast<float>(entries));
  }
}

}  // namespace
}  // namespace ticopd
