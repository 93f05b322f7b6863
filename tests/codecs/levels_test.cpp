// Levels and signs are encoded and decoded, in every coding.
#include "ticopd/codecs/levels.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "rows.hpp"
#include "symbols.hpp"
#include "ticopd/codecs/range_ans.hpp"

namespace ticopd::testing {
namespace {

constexpr Coding codings[] = {Coding::fixed, Coding::entropy, Coding::elias};
constexpr std::size_t sizes[] = {0, 1, 2, 3, 4, 5, 17, 63, 64, 65, 1000, 4099};

template <class Level>
class Levels : public ::testing::Test {
 public:
  // Largest levels to test, up to the maximum of the type.
  static std::vector<std::uint32_t> mosts() {
    std::vector<std::uint32_t> all{1, 2, 3, 7, 15, 63, 64, 200, 255};
    if constexpr (sizeof(Level) == 2)
      all.insert(all.end(), {256, 257, 287, 288, 511, 1000, 4095, 32768, 65534, 65535});
    return all;
  }
};
using LevelTypes = ::testing::Types<std::uint8_t, std::uint16_t>;
TYPED_TEST_SUITE(Levels, LevelTypes);

template <class Level>
void expect_return(const Symbols<Level>& symbols, std::uint32_t most) {
  for (const Coding coding : codings) {
    Bytes bytes(2, std::byte{0xa5});  // append must keep these bytes
    append_levels<Level>(coding, symbols.levels, symbols.signs, most, bytes);
    ASSERT_EQ(hex(std::span(bytes).first(2)), "a5a5");
    bytes.erase(bytes.begin(), bytes.begin() + 2);
    const std::size_t d = symbols.levels.size(), bound = most_level_bytes(coding, d, most);
    if (coding == Coding::fixed) {
      ASSERT_EQ(bytes.size(), bound);
    } else {
      ASSERT_LE(bytes.size(), bound) << "d " << d << " most " << most;
    }
    if (coding == Coding::entropy) {
      ASSERT_LE(bytes.size(), 1 + most_level_bytes(Coding::fixed, d, most));
      ASSERT_EQ(bytes.size(),
                level_bytes(count_tokens<Level>(std::span<const Level>(symbols.levels)), most));
    }
    Symbols<Level> back(d, 0x5a);
    ASSERT_TRUE(take_levels<Level>(coding, bytes, most, back.levels, back.signs))
        << "coding " << static_cast<int>(coding) << " d " << d << " most " << most;
    ASSERT_EQ(back, without_signs_of_zeros(symbols)) << "d " << d << " most " << most;
  }
}

TYPED_TEST(Levels, RoundTripForAnySymbols) {
  using Level = TypeParam;
  Generator random(Noise{3, 0, 0, stream_synthetic});
  for (const std::uint32_t most : Levels<Level>::mosts())
    for (const std::size_t d : sizes)
      for (int shape = 0; shape < shapes; ++shape) {
        expect_return(random_symbols<Level>(d, most, shape, random), most);
        if (this->HasFatalFailure()) return;
      }
}

TYPED_TEST(Levels, ASingleNonZeroLevelRoundTrips) {
  using Level = TypeParam;
  const std::uint32_t most = std::numeric_limits<Level>::max();
  for (std::uint32_t level = 1; level <= most; level = level * 5 / 4 + 1) {
    Symbols<Level> one(999, 0);
    std::ranges::fill(one.levels, Level{0});
    one.levels[321] = static_cast<Level>(level);
    one.signs[321 / 8] = std::byte{1 << 321 % 8};
    expect_return(one, most);
    expect_return(one, level);
    if (this->HasFatalFailure()) return;
  }
}

TEST(Levels, ZerosTakeAFewBytes) {
  const std::vector<std::uint8_t> zeros(1'000'000, 0);
  const Bytes signs(125'000, std::byte{0xff});
  Bytes bytes;
  append_levels<std::uint8_t>(Coding::entropy, zeros, signs, 255, bytes);
  EXPECT_EQ(bytes.size(), 2u);
  bytes.clear();
  append_levels<std::uint8_t>(Coding::elias, zeros, signs, 255, bytes);
  EXPECT_EQ(bytes.size(), 4u);
}

// Every prefix and every extension of a message.
TYPED_TEST(Levels, OtherLengthsAreRejected) {
  using Level = TypeParam;
  Generator random(Noise{4, 0, 0, stream_synthetic});
  for (const Coding coding : codings)
    for (const std::uint32_t most : Levels<Level>::mosts())
      for (int shape = 0; shape < shapes; ++shape) {
        const Symbols<Level> symbols = random_symbols<Level>(230, most, shape, random);
        Bytes bytes;
        append_levels<Level>(coding, symbols.levels, symbols.signs, most, bytes);
        Symbols<Level> back(230, 0);
        const auto taken = [&](std::size_t n) {
          return take_levels<Level>(coding, std::span(bytes).first(n), most, back.levels,
                                    back.signs);
        };
        const std::size_t right = bytes.size();
        bytes.resize(right + 5);
        for (std::size_t n = 0; n < bytes.size(); ++n) ASSERT_EQ(taken(n), n == right) << n;
      }
}

// Each message has exactly one encoding: with a bit flipped it is rejected, or decodes to other
// levels that are in range.
TYPED_TEST(Levels, FlippedBitsAreRejectedOrDecodeToOtherLevels) {
  using Level = TypeParam;
  Generator random(Noise{5, 0, 0, stream_synthetic});
  int refused = 0, taken = 0;
  while (refused + taken < 60'000) {
    const auto mosts = Levels<Level>::mosts();
    const std::uint32_t most = mosts[random.below(mosts.size())];
    const std::size_t d = random.below(3) == 0 ? random.below(20) : random.below(400);
    const Symbols<Level> symbols =
        random_symbols<Level>(d, most, static_cast<int>(random.below(shapes)), random);
    for (const Coding coding : codings) {
      Bytes bytes;
      append_levels<Level>(coding, symbols.levels, symbols.signs, most, bytes);
      for (int trial = 0; trial < 40 && !bytes.empty(); ++trial) {
        Bytes bad = bytes;
        for (std::size_t flips = 1 + random.below(3); flips > 0; --flips) {
          const std::size_t bit = random.below(8 * bad.size());
          bad[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        }
        if (bad == bytes) continue;
        Symbols<Level> back(d, 0);
        if (!take_levels<Level>(coding, bad, most, back.levels, back.signs)) {
          ++refused;
          continue;
        }
        ++taken;
        ASSERT_NE(back, without_signs_of_zeros(symbols));
        ASSERT_EQ(back, without_signs_of_zeros(back));
        for (const Level level : back.levels) ASSERT_LE(level, most);
      }
    }
  }
  EXPECT_GT(refused, taken);
  EXPECT_GT(taken, 1000);  // flipped signs and low bits are always valid
}

// Two encodings of the same levels that no encoder makes: planes although tokens are shorter, and
// frequencies that do not follow from the counts.
TEST(EntropyCodedLevels, EachRowHasExactlyOneEncoding) {
  std::vector<std::uint8_t> levels(1000), back(1000);
  Bytes signs(125), right;
  for (std::size_t k = 0; k < 1000; k += 7) levels[k] = 3;
  append_levels<std::uint8_t>(Coding::entropy, levels, signs, 15, right);
  ASSERT_EQ(right[0], std::byte{1});
  Bytes planes(1);
  append_levels<std::uint8_t>(Coding::fixed, levels, signs, 15, planes);
  EXPECT_FALSE(take_levels<std::uint8_t>(Coding::entropy, planes, 15, back, signs));

  const TokenCounts counts = count_tokens<std::uint8_t>(levels);
  const auto spelt = [&](std::uint32_t less) {
    Frequencies f = normalise(counts);
    f[0] -= less;
    f[3] += less;
    const EntropyLayout layout(counts, f);
    Bytes message(layout.bytes());
    message[0] = std::byte{1};
    put_table(f, std::span(message).subspan(1, layout.table_bytes));
    AnsEncoder(f).encode<std::uint8_t>(
        levels, std::span(message).subspan(1 + layout.table_bytes, layout.ans_bytes));
    return message;
  };
  EXPECT_EQ(spelt(0), right);
  for (const std::uint32_t less : {1u, 2u, 300u})
    EXPECT_FALSE(take_levels<std::uint8_t>(Coding::entropy, spelt(less), 15, back, signs)) << less;
  EXPECT_TRUE(take_levels<std::uint8_t>(Coding::entropy, right, 15, back, signs));
  EXPECT_EQ(back, levels);
}

TEST(Tokens, EveryLevelHasExactlyOneToken) {
  std::uint32_t last = 0;
  for (std::uint32_t level = 0; level < 65536; ++level) {
    const std::uint32_t t = token_of(level);
    ASSERT_TRUE(t == last || t == last + 1) << level;
    ASSERT_EQ(lowest_level(t) + (level & ((1u << low_bits(t)) - 1)), level);
    last = t;
  }
  EXPECT_EQ(last + 1, most_tokens);
}

// Counts of different shapes, also hard ones: nearly equal, spread over powers of two, or a few
// tokens that are so frequent that the others are hard to represent.
TokenCounts random_counts(Generator& random) {
  TokenCounts counts{};
  const std::size_t used = 1 + random.below(most_tokens), kind = random.below(4);
  for (std::size_t i = 0; i < used; ++i) {
    std::uint64_t n = 1 + random.below(3);
    if (kind == 1) n = 1 + random.below(1000);
    if (kind == 2) n = std::uint64_t{1} << random.below(26);
    if (kind == 3 && i % 6 == 0) n = 1 + random.below(1u << 30);
    counts[random.below(most_tokens)] = n;
  }
  return counts;
}

TEST(Frequencies, SumTo16384AndRoundTripThroughTheirTable) {
  Generator random(Noise{6, 0, 0, stream_synthetic});
  for (int trial = 0; trial < 5000; ++trial) {
    const TokenCounts counts = random_counts(random);
    const Frequencies f = normalise(counts);
    ASSERT_EQ(std::accumulate(f.begin(), f.end(), 0u), frequency_sum);
    for (std::size_t t = 0; t < most_tokens; ++t) ASSERT_EQ(f[t] > 0, counts[t] > 0);
    Bytes table((table_bits(f) + 7) / 8);
    put_table(f, table);
    Frequencies back;
    ASSERT_TRUE(take_table(table, 65535, back));
    ASSERT_EQ(back, f);
    table.pop_back();
    ASSERT_FALSE(take_table(table, 65535, back));
  }
}

// The cost is never below log2 of <cmath>, and above it by less than 1 / 300 bit.
TEST(Frequencies, CostIsATightUpperBound) {
  EXPECT_EQ(token_cost(frequency_sum), 0u);
  for (std::uint32_t f = 1; f < frequency_sum; ++f) {
    const double cost = static_cast<double>(token_cost(f)) / (1 << 20);
    const double exact = std::log2(static_cast<double>(frequency_sum) / f);
    const double loss = (frequency_sum - f) * 0x1p-23 * std::log2(std::exp(1.0));
    ASSERT_GE(cost, exact + loss) << f;
    ASSERT_LE(cost, exact + loss * 1.002 + 0x1p-18) << f;
  }
}

// The encoder never writes more than the bound, and the padding is a few bytes: each state ends
// below 2^31, 8 bits above its start.
TEST(RangeAns, StaysWithinTheLengthComputedFromTheCounts) {
  Generator random(Noise{7, 0, 0, stream_synthetic});
  for (int trial = 0; trial < 1500; ++trial) {
    TokenCounts counts = random_counts(random);
    std::vector<std::uint16_t> levels;
    for (std::uint32_t t = 0; t < most_tokens; ++t) {
      counts[t] = std::min<std::uint64_t>(counts[t], 300);
      levels.insert(levels.end(), counts[t], static_cast<std::uint16_t>(lowest_level(t)));
    }
    // Sorted, which is the hard case for the states, or shuffled.
    if (trial % 2 == 0)
      for (std::size_t k = levels.size(); k > 1; --k)
        std::swap(levels[k - 1], levels[random.below(k)]);
    // The bound holds for any frequencies, not only for those of the counts.
    const Frequencies f = normalise(trial % 3 == 0 ? random_counts(random) : counts);
    std::erase_if(levels, [&](std::uint16_t level) { return f[token_of(level)] == 0; });
    counts = count_tokens<std::uint16_t>(levels);
    const EntropyLayout layout(counts, f);
    if (layout.ans_bytes == 0) continue;
    Bytes guarded(layout.ans_bytes + 64, std::byte{0xa5});
    const auto part = std::span(guarded).subspan(32, layout.ans_bytes);
    AnsEncoder(f).encode<std::uint16_t>(levels, part);
    for (std::size_t i = 0; i < 32; ++i)
      ASSERT_TRUE(guarded[i] == std::byte{0xa5} &&
                  guarded[guarded.size() - 1 - i] == std::byte{0xa5});
    std::vector<std::uint16_t> back(levels.size());
    std::size_t used = 0;
    ASSERT_TRUE(AnsDecoder<std::uint16_t>(f).decode(part, back, used));
    ASSERT_EQ(back, levels);
    ASSERT_LE(used, layout.ans_bytes);
    // The bound may exceed the bits spent by 1 / 300 bit per token.
    ASSERT_LE(layout.ans_bytes - used, 3 + levels.size() / 2400);
  }
}

}  // namespace
}  // namespace ticopd::testing
