#pragma once

#include "ticopd/codecs/arithmetic/token_cost.hpp"
#include "ticopd/codecs/tokens.hpp"

namespace ticopd {

// The model of one message: frequencies of its tokens that sum to 2^14. All of it is integer
// arithmetic on the counts alone (docs/wire_format.md), so that any machine makes the same numbers.
using Frequencies = std::array<std::uint32_t, most_tokens>;

// Every token that occurs has a frequency of at least 1. There must be one.
Frequencies normalise(std::span<const std::uint64_t> counts);

// The table that a message carries.
std::size_t table_bits(const Frequencies& frequencies);
void put_table(const Frequencies& frequencies, std::span<std::byte> out);
// False unless `in` begins with a table of tokens up to token_of(most).
[[nodiscard]] bool take_table(std::span<const std::byte> in, std::uint32_t most,
                              Frequencies& frequencies);

// The parts of an entropy-coded message, in their order. They follow from the counts: who knows
// the histogram of a message knows its length.
struct EntropyLayout {
  EntropyLayout(std::span<const std::uint64_t> counts, const Frequencies& frequencies);

  std::size_t table_bytes, ans_bytes, raw_bits;
  std::size_t bytes() const { return 1 + table_bytes + ans_bytes + (raw_bits + 7) / 8; }
};

// What append_levels(Coding::entropy, ...) adds for levels 0 ... most of these tokens, signs
// included. `counts` has a place for each of the tokens up to token_of(most) at least.
std::size_t level_bytes(std::span<const std::uint64_t> counts, std::uint32_t most);

}  // namespace ticopd
