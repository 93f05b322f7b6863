#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ticopd {

// The only place that knows bit order. Everything on the wire is little endian, down to the bit:
// bit i of a stream is bit i mod 8 of byte i / 8, and a field's lowest bit comes first.
static_assert(std::endian::native == std::endian::little,
              "payloads are copied from memory: a big-endian machine has to swap in this file");

// A plane is `count` fields of `bits` bits without gaps; the rest of its last byte is zero. Its
// size is computed per eight fields, because the number of bits might not fit in a word.
constexpr std::size_t plane_bytes(std::size_t count, unsigned bits) {
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

// A payload has exactly one valid encoding: no writer sets the padding bits of a plane.
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

// Stores as many bytes of the word as `out` has.
inline void store_word(std::uint64_t word, std::span<std::byte> out) {
  if (out.size() >= sizeof word)
    std::memcpy(out.data(), &word, sizeof word);
  else if (!out.empty())
    std::memcpy(out.data(), &word, out.size());
}

// Writes fields of up to 63 bits one after another. It drops what does not fit in `out`.
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

// Reads the fields back. Past the end it returns zeros, and ok() turns false.
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

// Rows are coded in chunks of 64 coordinates. 64 fields of any width end at a byte. So a SIMD
// register, a GPU warp or the loops here can handle each chunk of a plane alone.
inline constexpr std::size_t chunk = 64;

// Packs eight 8-bit fields or four 16-bit fields inside one word, and unpacks them. Each step joins
// neighbours: first fields, then pairs, then pairs of pairs.
template <class Field>
class Squeeze {
 public:
  static constexpr std::size_t fields = 8 / sizeof(Field);

  explicit Squeeze(unsigned bits) {
    unsigned lane = 8 * sizeof(Field);
    for (Step& step : steps_) {
      step = {.width = bits, .lane = lane, .low = 0};
      for (unsigned at = 0; at < 64; at += 2 * lane)
        step.low |= ((std::uint64_t{1} << bits) - 1) << at;
      lane *= 2, bits *= 2;
    }
  }

  std::uint64_t together(std::uint64_t word) const {
    for (const Step& s : steps_)
      word = (word & s.low) | (word & s.low << s.lane) >> (s.lane - s.width);
    return word;
  }

  std::uint64_t apart(std::uint64_t word) const {
    for (std::size_t i = steps_.size(); i-- > 0;) {
      const Step& s = steps_[i];
      word = (word & s.low) | (word & s.low << s.width) << (s.lane - s.width);
    }
    return word;
  }

 private:
  struct Step {
    unsigned width, lane;  // a field has `width` bits in every lane of `lane` bits
    std::uint64_t low;     // the fields of the even lanes
  };
  std::array<Step, sizeof(Field) == 1 ? 3 : 2> steps_;
};

// `out` and `in` are plane_bytes(fields.size(), bits) long; fields are below 2^bits, and `Field` is
// std::uint8_t for 1 ... 8 bits or std::uint16_t for 1 ... 16.
template <class Field>
void pack_fields(std::span<const Field> fields, unsigned bits, std::span<std::byte> out) {
  if (bits == 8 * sizeof(Field)) {
    if (!out.empty()) std::memcpy(out.data(), fields.data(), out.size());
    return;
  }
  BitWriter writer(out);
  const Squeeze<Field> squeeze(bits);
  std::size_t j = 0;
  for (; j + squeeze.fields <= fields.size(); j += squeeze.fields)
    writer.put(squeeze.together(load_word(std::as_bytes(fields.subspan(j, squeeze.fields)))),
               static_cast<unsigned>(squeeze.fields) * bits);
  for (; j < fields.size(); ++j) writer.put(fields[j], bits);
  writer.finish();
}

template <class Field>
void unpack_fields(std::span<const std::byte> in, unsigned bits, std::span<Field> fields) {
  if (bits == 8 * sizeof(Field)) {
    if (!in.empty()) std::memcpy(fields.data(), in.data(), in.size());
    return;
  }
  BitReader reader(in);
  const Squeeze<Field> squeeze(bits);
  std::size_t j = 0;
  for (; j + squeeze.fields <= fields.size(); j += squeeze.fields)
    store_word(squeeze.apart(reader.get(static_cast<unsigned>(squeeze.fields) * bits)),
               std::as_writable_bytes(fields.subspan(j, squeeze.fields)));
  for (; j < fields.size(); ++j) fields[j] = static_cast<Field>(reader.get(bits));
}

}  // namespace ticopd
