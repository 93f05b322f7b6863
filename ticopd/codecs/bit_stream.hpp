#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace ticopd {

// The only place that knows bit order. Everything on the wire is little endian, down to the bit:
// bit i of a stream is bit i mod 8 of byte i / 8, and a field's lowest bit comes first.
static_assert(std::endian::native == std::endian::little,
              "payloads are copied from memory: a big-endian machine has to swap in this file");

// A plane is `count` fields of `bits` bits side by side; what is left of its last byte is zero.
// Counted by eights so that the number of bits need not fit in a word.
constexpr std::size_t plane_bytes(std::size_t count, unsigned bits) {
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

// A payload has one spelling: a plane whose padding bits are set was not made by a writer.
inline bool padding_is_zero(std::span<const std::byte> plane, std::size_t count, unsigned bits) {
  const std::size_t used = count % 8 * bits % 8;
  return used == 0 || std::to_integer<unsigned>(plane.back()) >> used == 0;
}

// Up to eight bytes as one number.
inline std::uint64_t load_word(std::span<const std::byte> in) {
  std::uint64_t word = 0;
  if (in.size() >= sizeof word)
    std::memcpy(&word, in.data(), sizeof word);  // a constant size: one instruction
  else if (!in.empty())
    std::memcpy(&word, in.data(), in.size());
  return word;
}

inline void store_word(std::uint64_t word, std::span<std::byte> out) {
  if (out.size() >= sizeof word)
    std::memcpy(out.data(), &word, sizeof word);
  else if (!out.empty())
    std::memcpy(out.data(), &word, out.size());
}

// Fields of up to 63 bits, one after another. What does not fit in `out` is dropped.
class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> out) : out_(out) {}

  void put(std::uint64_t field, unsigned bits) {
    word_ |= field << fill_;
    fill_ += bits;
    if (fill_ < 64) return;
    store_word(word_, out_);
    out_ = out_.subspan(std::min<std::size_t>(8, out_.size()));
    fill_ -= 64;
    word_ = field >> (bits - fill_);
  }

  // Writes the bits still held, and zeros up to the end of their byte.
  void finish() {
    store_word(word_, out_.first(std::min<std::size_t>((fill_ + 7) / 8, out_.size())));
  }

 private:
  std::span<std::byte> out_;
  std::uint64_t word_ = 0;
  unsigned fill_ = 0;
};

// Reads them back. Past the end there are only zeros, and ok() says that it went there.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> in) : in_(in) {}

  std::uint64_t get(unsigned bits) {
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    if (fill_ >= bits) {
      const std::uint64_t field = word_ & mask;
      word_ >>= bits;
      fill_ -= bits;
      return field;
    }
    const std::size_t bytes = std::min<std::size_t>(8, in_.size());
    const std::uint64_t next = load_word(in_);
    in_ = in_.subspan(bytes);
    const std::uint64_t field = (word_ | next << fill_) & mask;
    const unsigned taken = bits - fill_;
    const auto loaded = static_cast<unsigned>(8 * bytes);
    ok_ = ok_ && loaded >= taken;
    word_ = next >> taken;
    fill_ = loaded >= taken ? loaded - taken : 0;
    return field;
  }

  bool ok() const { return ok_; }

 private:
  std::span<const std::byte> in_;
  std::uint64_t word_ = 0;
  unsigned fill_ = 0;
  bool ok_ = true;
};

// Rows are coded in chunks of 64 coordinates: 64 fields of any width end on a byte, so each chunk
// of each plane stands alone, for a SIMD register or a GPU warp as for the loops here.
inline constexpr std::size_t chunk = 64;

// `out` and `in` are plane_bytes(fields.size(), bits) long; fields are below 2^bits, bits 1 ... 16.
inline void pack_fields(std::span<const std::uint16_t> fields, unsigned bits,
                        std::span<std::byte> out) {
  if (bits == 8) {
    for (std::size_t j = 0; j < fields.size(); ++j) out[j] = static_cast<std::byte>(fields[j]);
  } else if (bits == 4) {
    const std::size_t pairs = fields.size() / 2;
    for (std::size_t j = 0; j < pairs; ++j)
      out[j] = static_cast<std::byte>(fields[2 * j] | fields[2 * j + 1] << 4);
    if (fields.size() % 2 != 0) out[pairs] = static_cast<std::byte>(fields.back());
  } else {
    BitWriter writer(out);
    for (const std::uint16_t field : fields) writer.put(field, bits);
    writer.finish();
  }
}

inline void unpack_fields(std::span<const std::byte> in, unsigned bits,
                          std::span<std::uint16_t> fields) {
  if (bits == 8) {
    for (std::size_t j = 0; j < fields.size(); ++j)
      fields[j] = std::to_integer<std::uint16_t>(in[j]);
  } else if (bits == 4) {
    for (std::size_t j = 0; j < fields.size(); ++j)
      fields[j] = std::to_integer<std::uint16_t>(in[j / 2] >> j % 2 * 4 & std::byte{15});
  } else {
    BitReader reader(in);
    for (std::uint16_t& field : fields) field = static_cast<std::uint16_t>(reader.get(bits));
  }
}

// The signs of up to 64 coordinates as they stand in a plane of single bits: 1 is negative. It is
// the sign bit of the number, so that -0.0 is negative and a sign costs no comparison.
template <class T>
std::uint64_t sign_word(std::span<const T> v) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::uint64_t word = 0;
  for (std::size_t j = 0; j < v.size(); ++j)
    word |= static_cast<std::uint64_t>(std::bit_cast<Bits>(v[j]) >> (8 * sizeof(T) - 1)) << j;
  return word;
}

}  // namespace ticopd
