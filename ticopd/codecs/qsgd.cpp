#include "ticopd/codecs/qsgd.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <stdexcept>

#include "ticopd/codecs/infinity.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/plane_offsets.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

// Rows of this length and more do not fit in the caches.
constexpr std::size_t long_row = std::size_t{1} << 20;

}  // namespace

template <class T, class Loops, class Norm>
struct Qsgd<T, Loops, Norm>::Payload : Buckets, PlaneOffsets {
  Payload(std::size_t row, std::size_t bucket, unsigned bits)
      : Buckets(row, bucket), PlaneOffsets(count, d, bits) {}

  // Calls visit(first, count) for each stretch of the row.
  template <class Visit>
  void each_stretch(Visit visit) const {
    for (std::size_t first = 0; first < d; first += codec_stretch)
      visit(first, std::min(codec_stretch, d - first));
  }
};

template <class T, class Loops, class Norm>
Qsgd<T, Loops, Norm>::Qsgd(const CodecOptions& options)
    : bits_(static_cast<unsigned>(options.bits)),
      s_(Norm::top_level(bits_ & 31u)),
      scaled_(options.scaled && Norm::can_scale),
      bucket_(options.bucket),
      coding_(options.coding) {}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::encode(std::span<const T> v, const MessageId& message,
                                  Bytes& out) const {
  if (coding_ != Coding::fixed)
    return bits_ <= 8 ? encode_coded<std::uint8_t>(Source<T>(v), message, out, {})
                      : encode_coded<std::uint16_t>(Source<T>(v), message, out, {});
  out.resize(payload_bytes(v.size()));
  return encode_into(v, message, out);
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::encode_into(std::span<const T> v, const MessageId& message,
                                       std::span<std::byte> out) const {
  if (coding_ != Coding::fixed) return Codec<T>::encode_into(v, message, out);
  const Payload row(v.size(), bucket_, bits_);
  if (out.size() != row.bytes) throw std::logic_error("encode_into: the length is wrong");
  if (!encode_norms(row, Source<T>(v), out)) return false;
  row.each_stretch([&](std::size_t first, std::size_t count) {
    encode_stretch(row, Source<T>(v), message, first, count, out);
  });
  return true;
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::encode_difference(std::span<const T> x, std::span<const T> h,
                                             const MessageId& message, Bytes& out,
                                             const Use& sent) const {
  const Source<T> v(x, h);
  if (coding_ != Coding::fixed)
    return bits_ <= 8 ? encode_coded<std::uint8_t>(v, message, out, sent)
                      : encode_coded<std::uint16_t>(v, message, out, sent);
  const Payload row(x.size(), bucket_, bits_);
  out.resize(row.bytes);
  if (!encode_norms(row, v, out)) return false;
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    encode_stretch(row, v, message, first, count, out);
    decode_stretch(row, out, first, {q, count});
    sent(first, {q, count});
  });
  return true;
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::decode(std::span<const std::byte> in, const MessageId& message,
                                  std::span<T> q) const {
  if (coding_ != Coding::fixed)
    return decode_in_chunks(in, message, q.size(), [q](std::size_t first, std::span<const T> part) {
      std::ranges::copy(part, q.begin() + static_cast<std::ptrdiff_t>(first));
    });
  const Payload row(q.size(), bucket_, bits_);
  if (!is_payload(row, in)) return false;
  row.each_stretch([&](std::size_t first, std::size_t count) {
    decode_stretch(row, in, first, q.subspan(first, count));
  });
  return true;
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::decode_in_chunks(std::span<const std::byte> in, const MessageId&,
                                            std::size_t d, const Use& use) const {
  if (coding_ != Coding::fixed)
    return bits_ <= 8 ? decode_coded<std::uint8_t>(in, d, use)
                      : decode_coded<std::uint16_t>(in, d, use);
  const Payload row(d, bucket_, bits_);
  if (!is_payload(row, in)) return false;
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    decode_stretch(row, in, first, {q, count});
    use(first, {q, count});
  });
  return true;
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::encode_norms(const Payload& row, Source<T> v,
                                        std::span<std::byte> out) const {
  for (std::size_t b = 0; b < row.count; ++b) {
    const Source<T> bucket = v.part(row.first_of(b), row.length_of(b));
    const double norm = Norm::scale(Norm::template measured<Loops>(bucket), bucket.size());
    // Also false for NaN. Every NaN or infinity in v ends up in a norm.
    if (!(norm <= largest_norm)) return false;
    store_value(static_cast<float>(norm), b, out);
  }
  return true;
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::norms_are_right(const Payload& row,
                                           std::span<const std::byte> in) const {
  for (std::size_t b = 0; b < row.count; ++b) {
    const float norm = load_value<float>(in, b);
    if (!(norm <= largest_norm) || std::signbit(norm)) return false;
  }
  return true;
}

template <class T, class Loops, class Norm>
template <class Level>
void Qsgd<T, Loops, Norm>::quantise(const Payload& row, Source<T> v, const MessageId& message,
                                    std::size_t first, std::size_t count,
                                    std::span<const std::byte> norms, Level* levels) const {
  alignas(64) std::uint32_t noise[codec_stretch];
  // Drawing noise is arithmetic; the loop after it waits for memory. So a row larger than the
  // caches is prefetched while its noise is drawn. For a smaller row, prefetching only adds
  // instructions.
  const std::size_t part = row.d >= long_row ? 256 : count;
  for (std::size_t k = 0; k < count; k += part) {
    const std::size_t n = std::min(part, count - k);
    if (row.d >= long_row) v.part(first + k, n).fetch();
    Loops::draw(message, first + k, n, noise + k);
  }
  row.each_part(first, first + count, [&](std::size_t b, std::size_t k, std::size_t n) {
    Loops::quantise(v.part(k, n), noise + (k - first), Scale<T>(load_value<float>(norms, b), s_),
                    levels + (k - first));
  });
}

template <class T, class Loops, class Norm>
template <class Level>
void Qsgd<T, Loops, Norm>::dequantise(const Payload& row, std::span<const std::byte> norms,
                                      const Level* levels, const std::byte* signs,
                                      std::size_t first, std::span<T> q) const {
  row.each_part(first, first + q.size(), [&](std::size_t b, std::size_t k, std::size_t n) {
    const double tau = scaled_ ? 1.0 + omega(row.length_of(b)) : 1.0;
    const T unit = level_unit<T>(load_value<float>(norms, b), s_, tau);
    Loops::dequantise(levels + (k - first), signs, k - first, unit, q.subspan(k - first, n));
  });
}

template <class T, class Loops, class Norm>
void Qsgd<T, Loops, Norm>::encode_stretch(const Payload& row, Source<T> v, const MessageId& message,
                                          std::size_t first, std::size_t count,
                                          std::span<std::byte> out) const {
  std::byte* plane = out.data() + row.levels_at + plane_bytes(first, bits_);
  const auto pack = [&]<class Level>(Level* levels) {
    quantise(row, v, message, first, count, out, levels);
    Loops::pack(std::span<const Level>(levels, count), bits_, plane);
  };
  if (bits_ == 8) {  // nothing to pack
    quantise(row, v, message, first, count, out, reinterpret_cast<std::uint8_t*>(plane));
  } else if (bits_ < 8) {
    std::uint8_t levels[codec_stretch];
    pack(levels);
  } else {
    std::uint16_t levels[codec_stretch];
    pack(levels);
  }
  Loops::take_signs(v.part(first, count), out.data() + row.signs_at + first / 8);
}

template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::is_payload(const Payload& row, std::span<const std::byte> in) const {
  return in.size() == row.bytes && norms_are_right(row, in) &&
         padding_is_zero(in.subspan(row.levels_at, row.signs_at - row.levels_at), row.d, bits_) &&
         padding_is_zero(in.subspan(row.signs_at), row.d, 1) && levels_are_right(row, in);
}

// If s is the largest number that a field can hold, every level is valid.
template <class T, class Loops, class Norm>
bool Qsgd<T, Loops, Norm>::levels_are_right(const Payload& row,
                                            std::span<const std::byte> in) const {
  if (s_ == (1u << bits_) - 1) return true;
  bool right = true;
  row.each_stretch([&](std::size_t first, std::size_t count) {
    std::uint16_t levels[codec_stretch];
    const std::span<std::uint16_t> some(levels, count);
    unpack_fields(in.subspan(row.levels_at + plane_bytes(first, bits_), plane_bytes(count, bits_)),
                  bits_, some);
    for (const std::uint16_t level : some) right &= level <= s_;
  });
  return right;
}

template <class T, class Loops, class Norm>
void Qsgd<T, Loops, Norm>::decode_stretch(const Payload& row, std::span<const std::byte> in,
                                          std::size_t first, std::span<T> q) const {
  const std::byte* signs = in.data() + row.signs_at + first / 8;
  const std::byte* plane = in.data() + row.levels_at + plane_bytes(first, bits_);
  const auto unpack = [&]<class Level>(Level* levels) {
    Loops::unpack(plane, bits_, std::span<Level>(levels, q.size()));
    dequantise(row, in, levels, signs, first, q);
  };
  if (bits_ == 8) {
    dequantise(row, in, reinterpret_cast<const std::uint8_t*>(plane), signs, first, q);
  } else if (bits_ < 8) {
    std::uint8_t levels[codec_stretch];
    unpack(levels);
  } else {
    std::uint16_t levels[codec_stretch];
    unpack(levels);
  }
}

template <class T, class Loops, class Norm>
template <class Level>
bool Qsgd<T, Loops, Norm>::encode_coded(Source<T> v, const MessageId& message, Bytes& out,
                                        const Use& sent) const {
  const Payload row(v.size(), bucket_, bits_);
  out.resize(row.levels_at);
  if (!encode_norms(row, v, out)) return false;
  const auto levels = std::make_unique_for_overwrite<Level[]>(row.d);
  const auto signs = std::make_unique_for_overwrite<std::byte[]>(plane_bytes(row.d, 1));
  const std::span plane(signs.get(), plane_bytes(row.d, 1));
  row.each_stretch([&](std::size_t first, std::size_t count) {
    quantise(row, v, message, first, count, out, levels.get() + first);
    Loops::take_signs(v.part(first, count), signs.get() + first / 8);
  });
  const std::span<const Level> all(levels.get(), row.d);
  append_levels(coding_, all, plane, s_, out);
  if (!sent) return true;
  // The receiver gets no signs of zeros, so the sender must decode without them too.
  drop_signs_of_zeros(all, plane);
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    dequantise(row, out, levels.get() + first, signs.get() + first / 8, first, {q, count});
    sent(first, {q, count});
  });
  return true;
}

template <class T, class Loops, class Norm>
template <class Level>
bool Qsgd<T, Loops, Norm>::decode_coded(std::span<const std::byte> in, std::size_t d,
                                        const Use& use) const {
  const Payload row(d, bucket_, bits_);
  if (in.size() < row.levels_at || in.size() > payload_bytes(d) || !norms_are_right(row, in))
    return false;
  const auto levels = std::make_unique_for_overwrite<Level[]>(d);
  const auto signs = std::make_unique_for_overwrite<std::byte[]>(plane_bytes(d, 1));
  if (!take_levels(coding_, in.subspan(row.levels_at), s_, std::span(levels.get(), d),
                   std::span(signs.get(), plane_bytes(d, 1))))
    return false;
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    dequantise(row, in, levels.get() + first, signs.get() + first / 8, first, {q, count});
    use(first, {q, count});
  });
  return true;
}

template <class T, class Loops, class Norm>
std::size_t Qsgd<T, Loops, Norm>::payload_bytes(std::size_t d) const {
  const Payload row(d, bucket_, bits_);
  if (coding_ == Coding::fixed) return row.bytes;
  return row.levels_at + most_level_bytes(coding_, d, s_);
}

template class Qsgd<float>;
template class Qsgd<double>;
template class Qsgd<float, ScalarLoops<float>>;
template class Qsgd<float, BestLoops<float>, LargestMagnitude>;
template class Qsgd<double, BestLoops<double>, LargestMagnitude>;
template class Qsgd<float, ScalarLoops<float>, LargestMagnitude>;

}  // namespace ticopd
