#pragma once

#include "ticopd/codecs/arithmetic/token_cost.hpp"
#include "ticopd/codecs/tokens.hpp"

namespace ticopd {

// The entropy coder's model of one message: token frequencies that sum to 2^14. They follow from
// the counts in integer arithmetic (docs/wire_format.md), so every machine computes the same
// numbers.
using Frequencies = std::array<std::uint32_t, most_tokens>;

// Scales counts to frequencies. A token that occurs gets at least 1. At least one token must occur.
Frequencies normalise(std::span<const std::uint64_t> counts);

// The table of frequencies that a message carries.
std::size_t table_bits(const Frequencies& frequencies);
void put_table(const Frequencies& frequencies, std::span<std::byte> out);
// Returns false unless `in` begins with a table of tokens up to token_of(most).
[[nodiscard]] bool take_table(std::span<const std::byte> in, std::uint32_t most,
                              Frequencies& frequencies);

// The parts of an entropy-coded message, in order. Their sizes depend only on the counts: the
// histogram of a message determines its length.
struct EntropyLayout {
  EntropyLayout(std::span<const std::uint64_t> counts, const Frequencies& frequencies);

  std::size_t table_bytes, ans_bytes, raw_bits;
  std::size_t bytes() const { return 1 + table_bytes + ans_bytes + (raw_bits + 7) / 8; }
};

// The bytes that append_levels(Coding::entropy, ...) adds for levels 0 ... most with these token
// counts, signs included. `counts` covers at least the tokens up to token_of(most).
std::size_t level_bytes(std::span<const std::uint64_t> counts, std::uint32_t most);

}  // namespace ticopd
