// Levels in every coding: byte 0 chooses the coding, 8 or 16 bits per level, and the meaning of the
// rest; bytes 1 and 2 give the number of levels, bytes 3 and 4 the largest level. If the rest is a
// message, it is rejected, or it decodes to levels in range and is their only encoding. If the rest
// is levels and signs, they must round-trip within the stated number of bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <vector>

#include "ticopd/codecs/frequencies.hpp"
#include "ticopd/codecs/levels.hpp"

namespace {

using namespace ticopd;

void want(bool fact) {
  if (!fact) std::abort();
}

template <class Level>
struct Symbols {
  explicit Symbols(std::size_t d) : levels(d), signs(plane_bytes(d, 1)) {}
  bool operator==(const Symbols&) const = default;

  std::vector<Level> levels;
  Bytes signs;
};

template <class Level>
Bytes message_of(Coding coding, const Symbols<Level>& symbols, std::uint32_t most) {
  Bytes out;
  append_levels<Level>(coding, symbols.levels, symbols.signs, most, out);
  want(out.size() <= most_level_bytes(coding, symbols.levels.size(), most));
  if (coding == Coding::entropy)
    want(out.size() == level_bytes(count_tokens<Level>(symbols.levels), most));
  return out;
}

template <class Level>
void read(Coding coding, std::size_t d, std::uint32_t most, std::span<const std::byte> in) {
  Symbols<Level> symbols(d);
  if (!take_levels<Level>(coding, in, most, symbols.levels, symbols.signs)) return;
  for (const Level level : symbols.levels) want(level <= most);
  want(std::ranges::equal(message_of(coding, symbols, most), in));
}

template <class Level>
void write(Coding coding, std::uint32_t most, std::span<const std::byte> in) {
  // The input repeats groups of eight levels and one byte of signs. Most levels are small, as in
  // runs.
  Symbols<Level> symbols(in.size() / 9 * 8), back(symbols.levels.size());
  for (std::size_t i = 0; i < in.size() / 9 * 9; ++i) {
    const auto byte = std::to_integer<std::uint32_t>(in[i]);
    const std::size_t group = i / 9;
    if (i % 9 == 8)
      symbols.signs[group] = in[i];
    else
      symbols.levels[group * 8 + i % 9] =
          static_cast<Level>(std::min(most, byte < 240 ? byte : byte * byte * (byte & 15) / 13));
  }
  const Bytes out = message_of(coding, symbols, most);
  want(take_levels<Level>(coding, out, most, back.levels, back.signs));
  drop_signs_of_zeros<Level>(symbols.levels, symbols.signs);
  want(back == symbols);
}

template <class Level>
void test(const std::uint8_t* data, std::span<const std::byte> rest) {
  constexpr Coding codings[] = {Coding::entropy, Coding::elias, Coding::fixed, Coding::entropy};
  const Coding coding = codings[data[0] & 3];
  const std::size_t d = (data[1] | data[2] << 8) % 4097;
  const std::uint32_t most =
      std::min<std::uint32_t>(data[3] | data[4] << 8, std::numeric_limits<Level>::max());
  if ((data[0] & 8) != 0)
    write<Level>(coding, most, rest);
  else
    read<Level>(coding, d, most, rest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const auto rest = std::as_bytes(std::span(data + 5, size - 5));
  if ((data[0] & 4) != 0)
    test<std::uint16_t>(data, rest);
  else
    test<std::uint8_t>(data, rest);
  return 0;
}
