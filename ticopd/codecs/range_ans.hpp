#pragma once

#include "ticopd/codecs/frequencies.hpp"

namespace ticopd {

// Range-ANS (J. Duda, "Asymmetric numeral systems", 2013; in the form with a multiplication, as F.
// Giesen describes it in "Interleaved entropy coders", 2014). A state x in [2^23, 2^31) takes in a
// token of frequency f whose range, of 2^14 in all, begins at b:
//   x <- (x div f) 2^14 + b + (x mod f)
// Before that, while x >= f 2^17, the low byte of x is written and removed. Coordinate k uses state
// k mod 2. The encoder takes the tokens from last to first and writes the bytes from last to first.
// So the decoder reads both from first to last.
inline constexpr std::uint32_t ans_least = 1u << 23;  // and the encoder's first state

// Encodes the tokens of a row.
class AnsEncoder {
 public:
  explicit AnsEncoder(const Frequencies& frequencies) {
    std::uint32_t begin = 0;
    for (std::size_t t = 0; t < most_tokens; ++t) {
      const std::uint32_t f = frequencies[t];
      if (f != 0) tokens_[t] = Token(f, begin);
      begin += f;
    }
  }

  // Fills `out` with the states, the bytes, and zeros. `out` has EntropyLayout::ans_bytes bytes;
  // the constructor of EntropyLayout proves that they suffice.
  template <class Level>
  void encode(std::span<const Level> levels, std::span<std::byte> out) const {
    std::uint32_t x[ans_states] = {ans_least, ans_least};
    std::byte* at = out.data() + out.size();
    std::size_t k = levels.size();
    if (k % 2 != 0) --k, push(levels[k], x[0], at);
    for (; k > 0; k -= 2) {
      push(levels[k - 1], x[1], at);
      push(levels[k - 2], x[0], at);
    }
    at -= ans_state_bytes;
    std::memcpy(at, x, ans_state_bytes);
    const auto used = static_cast<std::size_t>(out.data() + out.size() - at);
    std::memmove(out.data(), at, used);
    std::ranges::fill(out.subspan(used), std::byte{0});
  }

 private:
  struct Token {
    Token() = default;
    // x div f = (x reciprocal) >> shift, exactly, for x < 2^31: the reciprocal is too large by a
    // factor of less than 1 + f / 2^shift <= 1 + 2^-31.
    Token(std::uint32_t f, std::uint32_t first)
        : limit(f << 17), begin(first), others(frequency_sum - f) {
      shift = 31 + static_cast<unsigned>(std::bit_width(f - 1));
      reciprocal = ((std::uint64_t{1} << shift) + f - 1) / f;
    }
    std::uint64_t reciprocal = 0;
    std::uint32_t limit = 0, begin = 0, others = 0, shift = 0;
  };

  // Takes in one token. x + quotient * others + begin is the formula above without a remainder.
  void push(std::uint32_t level, std::uint32_t& state, std::byte*& at) const {
    const Token& token = tokens_[token_of(level)];
    std::uint32_t x = state;
    for (; x >= token.limit; x >>= 8) *--at = static_cast<std::byte>(x);
    const auto quotient = static_cast<std::uint32_t>(x * token.reciprocal >> token.shift);
    state = x + quotient * token.others + token.begin;
  }

  std::array<Token, most_tokens> tokens_;
};

// Decodes the tokens of a row.
template <class Level>
class AnsDecoder {
 public:
  explicit AnsDecoder(const Frequencies& frequencies) {
    std::uint32_t begin = 0;
    for (std::size_t t = 0; t < most_tokens; ++t) {
      const std::uint32_t f = frequencies[t];
      if (f == 0) continue;
      tokens_[t] = {f, begin};
      std::fill_n(slots_.begin() + begin, f, static_cast<Level>(t));
      begin += f;
    }
  }

  // Reads one token per level from the front of `in` and writes its lowest level. `used` is the
  // number of bytes read. Returns false if an encoder cannot have written them.
  [[nodiscard]] bool decode(std::span<const std::byte> in, std::span<Level> levels,
                            std::size_t& used) const {
    if (in.size() < ans_state_bytes) return false;
    std::uint32_t x[ans_states];
    std::memcpy(x, in.data(), ans_state_bytes);
    for (const std::uint32_t s : x)
      if (s < ans_least || s >= ans_least << 8) return false;
    const std::byte *at = in.data() + ans_state_bytes, *end = in.data() + in.size();
    std::size_t k = 0;
    for (; k + 2 <= levels.size(); k += 2) {
      levels[k] = pop(x[0]);
      levels[k + 1] = pop(x[1]);
      if (!(refill(x[0], at, end) && refill(x[1], at, end))) return false;
    }
    if (k < levels.size()) {
      levels[k] = pop(x[0]);
      if (!refill(x[0], at, end)) return false;
    }
    used = static_cast<std::size_t>(at - in.data());
    return x[0] == ans_least && x[1] == ans_least;
  }

 private:
  struct Token {
    std::uint32_t frequency, begin;
  };

  // Inverts push.
  Level pop(std::uint32_t& x) const {
    const std::uint32_t slot = x & (frequency_sum - 1), t = slots_[slot];
    x = tokens_[t].frequency * (x >> frequency_bits) + slot - tokens_[t].begin;
    return static_cast<Level>(lowest_level(t));
  }

  static bool refill(std::uint32_t& x, const std::byte*& at, const std::byte* end) {
    while (x < ans_least) {
      if (at == end) return false;
      x = x << 8 | std::to_integer<std::uint32_t>(*at++);
    }
    return true;
  }

  std::array<Token, most_tokens> tokens_{};
  std::array<Level, frequency_sum> slots_;
};

}  // namespace ticopd
