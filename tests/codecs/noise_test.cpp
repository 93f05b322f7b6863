// Both ends of a message must agree on its noise, permutation, sums and bit order.
#include <gtest/gtest.h>

#include <set>

#include "rows.hpp"
#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/numeric/permutation.hpp"
#include "ticopd/numeric/sum.hpp"

namespace ticopd::testing {
namespace {

using Block = Noise::Block;

// The test vectors that Random123 publishes for philox4x32-10.
TEST(Noise, EqualsThePublishedValuesOfPhilox) {
  const Noise zero{0, 0, 0, 0};
  EXPECT_EQ(zero.block(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const Noise ones{~0ull, ~0u, ~0u, ~0u};
  EXPECT_EQ(ones.block(~0u), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  const Noise pi{0x299f31d0a4093822ull, 0x85a308d3, 0x13198a2e, 0x03707344};
  EXPECT_EQ(pi.block(0x243f6a88), (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Noise, ReadsCoordinateKFromLaneKMod4OfBlockKOver4) {
  const Noise message{1, 2, 3, 0};
  for (std::size_t k = 0; k < 40; ++k) {
    const std::uint32_t bits = message.block(static_cast<std::uint32_t>(k / 4))[k % 4];
    EXPECT_EQ(message.uniform(k), static_cast<float>(bits / 256) / 16777216.0f);
  }
  EXPECT_EQ(Noise::to_uniform(0xffffffffu), 1.0f - 0x1p-24f) << "below 1, always";
  EXPECT_EQ(Noise::to_uniform(0xffu), 0.0f);
}

TEST(Noise, DiffersForEveryPartOfTheMessageId) {
  const Noise message{1, 2, 3, 4};
  std::set<Block> blocks{message.block(0), message.block(1)};
  blocks.insert(Noise{2, 2, 3, 4}.block(0));
  blocks.insert(Noise{1ull << 32 | 1, 2, 3, 4}.block(0));
  blocks.insert(Noise{1, 3, 3, 4}.block(0));
  blocks.insert(Noise{1, 2, 4, 4}.block(0));
  blocks.insert(Noise{1, 2, 3, 5}.block(0));
  EXPECT_EQ(blocks.size(), 7u);
}

TEST(Permutation, IsABijectionWithItsInverse) {
  for (std::uint64_t n = 1; n <= 300; ++n) {
    const Permutation p(n, Noise{3, static_cast<std::uint32_t>(n), 1, stream_subset});
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t j = p(i);
      ASSERT_LT(j, n);
      ASSERT_FALSE(seen[j]) << "n " << n << ": " << j << " twice";
      seen[j] = true;
      ASSERT_EQ(p.inverse(j), i);
    }
  }
}

// Short rows are enough to find a bias. Long rows would need millions of draws.
TEST(Permutation, MapsEveryPointToEveryPlaceEquallyOften) {
  constexpr std::uint32_t draws = 100000;
  for (const std::uint64_t n : {3, 5, 9, 10, 11, 33})
    for (const std::uint64_t point : {std::uint64_t{0}, n - 1}) {
      std::vector<double> times(n);
      for (std::uint32_t round = 0; round < draws; ++round)
        times[Permutation(n, Noise{8, round, 1, stream_subset})(point)] += 1;
      const double expected = static_cast<double>(draws) / static_cast<double>(n);
      double chi_squared = 0;
      for (const double t : times) chi_squared += (t - expected) * (t - expected) / expected;
      const double degrees = static_cast<double>(n - 1);
      EXPECT_LT(chi_squared, degrees + 5 * std::sqrt(2 * degrees))
          << "point " << point << " of " << n;
    }
}

TEST(Permutation, EqualsTheExampleInTheFormatDocument) {
  const Permutation p(10, Noise{1, 2, 3, stream_subset});
  std::vector<std::uint64_t> image;
  for (std::uint64_t i = 0; i < 10; ++i) image.push_back(p(i));
  EXPECT_EQ(image, (std::vector<std::uint64_t>{5, 7, 1, 3, 9, 4, 2, 6, 0, 8}));
}

// 1 + 2^53 is not a double, so the result shows the order of the additions.
TEST(SumTree, AddsInTheDocumentedOrder) {
  const double large = 0x1p53;
  std::vector<double> terms(128, 0.0);
  const auto sum = [&] { return tree_sum(terms.size(), [&](std::size_t k) { return terms[k]; }); };
  terms[0] = large, terms[1] = 1, terms[16] = -large;
  EXPECT_EQ(sum(), 1) << "0 and 16 share a lane and cancel before lane 1 is added";
  terms.assign(128, 0.0);
  terms[0] = large, terms[8] = 1, terms[1] = -large;
  EXPECT_EQ(sum(), 0) << "lane 8 is folded into lane 0 first, and is lost";
  terms.assign(128 * 17, 0.0);
  terms[0] = large, terms[128] = 1, terms[128 * 16] = -large;
  EXPECT_EQ(sum(), 1) << "blocks 0 and 16 share a lane";
}

TEST(BitStream, WritesTheLowestBitFirst) {
  Bytes bytes(3);
  BitWriter writer(bytes);
  writer.put(0b101, 3);
  writer.put(0b1, 1);
  writer.put(0x123, 12);
  writer.put(0b11, 2);
  writer.finish();
  EXPECT_EQ(hex(bytes), "3d1203");  // 0x3 | 1101, 0x12, 11
}

TEST(BitStream, ReadsBackFieldsOfEveryWidth) {
  for (unsigned bits = 0; bits < 64; ++bits)
    for (std::size_t count = 0; count < 70; ++count) {
      Generator random(Noise{bits, static_cast<std::uint32_t>(count), 0, stream_synthetic});
      std::vector<std::uint64_t> fields(count);
      for (auto& f : fields)
        f = (std::uint64_t{random.bits()} << 32 | random.bits()) & ((std::uint64_t{1} << bits) - 1);
      Bytes bytes(plane_bytes(count, bits));
      ASSERT_EQ(bytes.size(), (count * bits + 7) / 8);
      BitWriter writer(bytes);
      for (const auto f : fields) writer.put(f, bits);
      writer.finish();
      BitReader reader(bytes);
      for (const auto f : fields) ASSERT_EQ(reader.get(bits), f) << bits << " bits";
      ASSERT_TRUE(reader.ok());
      ASSERT_TRUE(padding_is_zero(bytes, count, bits));
    }
}

TEST(BitStream, ReadsZerosPastItsEndAndReportsIt) {
  const Bytes bytes(2, std::byte{0xff});
  BitReader reader(bytes);
  EXPECT_EQ(reader.get(11), 0x7ffu);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.get(11), 0x1fu);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.get(63), 0u);
  EXPECT_FALSE(reader.ok());
}

TEST(BitStream, DropsBitsPastTheEndOfItsBuffer) {
  Bytes bytes(12, std::byte{0xee});
  const std::span<std::byte> all(bytes);
  BitWriter writer(all.first(9));
  for (int i = 0; i < 40; ++i) writer.put(0x1ff, 9);
  writer.finish();
  EXPECT_EQ(hex(bytes), "ffffffffffffffffffeeeeee");
}

}  // namespace
}  // namespace ticopd::testing
