#include "ticopd/codecs/qsgd.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/codecs/values.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr std::size_t long_row = std::size_t{1} << 20;

}  // namespace

template <class T, class Loops>
struct Qsgd<T, Loops>::Layout {
  Layout(std::size_t row, std::size_t bucket, unsigned bits)
      : d(row),
        length(bucket == 0 || bucket > d ? std::max<std::size_t>(d, 1) : bucket),
        buckets(d == 0 ? 1 : (d - 1) / length + 1),
        levels_at(buckets * sizeof(float)),
        signs_at(levels_at + plane_bytes(d, bits)),
        bytes(signs_at + plane_bytes(d, 1)) {}

  std::size_t first_of(std::size_t b) const { return b * length; }
  std::size_t length_of(std::size_t b) const { return std::min(length, d - first_of(b)); }

  // Calls visit(b, first, count) for each bucket's part of the coordinates first ... last - 1.
  template <class Visit>
  void each_bucket(std::size_t first, std::size_t last, Visit visit) const {
    while (first < last) {
      const std::size_t b = first / length;
      const std::size_t count = std::min(last, first_of(b) + length_of(b)) - first;
      visit(b, first, count);
      first += count;
    }
  }

  // Calls visit(first, count) for each stretch of the row.
  template <class Visit>
  void each_stretch(Visit visit) const {
    for (std::size_t first = 0; first < d; first += codec_stretch)
      visit(first, std::min(codec_stretch, d - first));
  }

  std::size_t d, length, buckets, levels_at, signs_at, bytes;
};

template <class T, class Loops>
Qsgd<T, Loops>::Qsgd(const CodecOptions& options)
    : bits_(static_cast<unsigned>(options.bits)),
      s_((1u << (bits_ & 31u)) - 1),
      scaled_(options.scaled),
      bucket_(options.bucket) {
  if (options.bits < 1 || options.bits > 16)
    throw ConfigError(fmt::format("codec.bits = {}: allowed are 1, 2, ..., 16", options.bits));
}

template <class T, class Loops>
bool Qsgd<T, Loops>::encode(std::span<const T> v, const Noise& message, Bytes& out) const {
  const Layout row(v.size(), bucket_, bits_);
  if (!encode_norms(row, Source<T>(v), out)) return false;
  row.each_stretch([&](std::size_t first, std::size_t count) {
    encode_stretch(row, Source<T>(v), message, first, count, out);
  });
  return true;
}

template <class T, class Loops>
bool Qsgd<T, Loops>::encode_difference(std::span<const T> x, std::span<const T> h,
                                       const Noise& message, Bytes& out, const Use& sent) const {
  const Layout row(x.size(), bucket_, bits_);
  const Source<T> v(x, h);
  if (!encode_norms(row, v, out)) return false;
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    encode_stretch(row, v, message, first, count, out);
    decode_stretch(row, out, first, {q, count});
    sent(first, {q, count});
  });
  return true;
}

template <class T, class Loops>
bool Qsgd<T, Loops>::decode(std::span<const std::byte> in, const Noise&, std::span<T> q) const {
  const Layout row(q.size(), bucket_, bits_);
  if (!is_payload(row, in)) return false;
  row.each_stretch([&](std::size_t first, std::size_t count) {
    decode_stretch(row, in, first, q.subspan(first, count));
  });
  return true;
}

template <class T, class Loops>
bool Qsgd<T, Loops>::decode_stretches(std::span<const std::byte> in, const Noise&, std::size_t d,
                                      const Use& use) const {
  const Layout row(d, bucket_, bits_);
  if (!is_payload(row, in)) return false;
  alignas(64) T q[codec_stretch];
  row.each_stretch([&](std::size_t first, std::size_t count) {
    decode_stretch(row, in, first, {q, count});
    use(first, {q, count});
  });
  return true;
}

template <class T, class Loops>
bool Qsgd<T, Loops>::encode_norms(const Layout& row, Source<T> v, Bytes& out) const {
  out.resize(row.bytes);
  for (std::size_t b = 0; b < row.buckets; ++b) {
    const double norm = std::sqrt(Loops::sum_of_squares(v.part(row.first_of(b), row.length_of(b))));
    // False for a NaN as well, and every NaN or infinity in v ends up in a norm.
    if (!(norm <= largest_norm)) return false;
    store_value(static_cast<float>(norm), b, std::span<std::byte>(out));
  }
  return true;
}

template <class T, class Loops>
void Qsgd<T, Loops>::encode_stretch(const Layout& row, Source<T> v, const Noise& message,
                                    std::size_t first, std::size_t count,
                                    std::span<std::byte> out) const {
  alignas(64) std::uint32_t noise[codec_stretch];
  // Noise is arithmetic, what follows waits for memory: a row that is beyond the caches is fetched
  // while noise is made. (A row within them is not: there it is only more instructions.)
  const std::size_t part = row.d >= long_row ? 256 : count;
  for (std::size_t k = 0; k < count; k += part) {
    const std::size_t n = std::min(part, count - k);
    if (row.d >= long_row) v.part(first + k, n).fetch();
    Loops::draw(message, first + k, n, noise + k);
  }
  const auto quantise = [&](auto* levels) {
    row.each_bucket(first, first + count, [&](std::size_t b, std::size_t k, std::size_t n) {
      Loops::quantise(v.part(k, n), noise + (k - first), Scale<T>(load_value<float>(out, b), s_),
                      levels + (k - first));
    });
  };
  std::byte* plane = out.data() + row.levels_at + plane_bytes(first, bits_);
  if (bits_ == 8) {
    quantise(reinterpret_cast<std::uint8_t*>(plane));  // nothing to pack
  } else if (bits_ < 8) {
    std::uint8_t levels[codec_stretch];
    quantise(levels);
    Loops::pack(std::span<const std::uint8_t>(levels, count), bits_, plane);
  } else {
    std::uint16_t levels[codec_stretch];
    quantise(levels);
    Loops::pack(std::span<const std::uint16_t>(levels, count), bits_, plane);
  }
  Loops::take_signs(v.part(first, count), out.data() + row.signs_at + first / 8);
}

template <class T, class Loops>
bool Qsgd<T, Loops>::is_payload(const Layout& row, std::span<const std::byte> in) const {
  if (in.size() != row.bytes) return false;
  for (std::size_t b = 0; b < row.buckets; ++b) {
    const float norm = load_value<float>(in, b);
    if (!(norm <= largest_norm) || std::signbit(norm)) return false;
  }
  return padding_is_zero(in.subspan(row.levels_at, row.signs_at - row.levels_at), row.d, bits_) &&
         padding_is_zero(in.subspan(row.signs_at), row.d, 1);
}

template <class T, class Loops>
void Qsgd<T, Loops>::decode_stretch(const Layout& row, std::span<const std::byte> in,
                                    std::size_t first, std::span<T> q) const {
  const std::byte* signs = in.data() + row.signs_at + first / 8;
  const auto dequantise = [&](const auto* levels) {
    row.each_bucket(first, first + q.size(), [&](std::size_t b, std::size_t k, std::size_t n) {
      const double tau = scaled_ ? 1.0 + omega(row.length_of(b)) : 1.0;
      const T unit =
          static_cast<T>(load_value<float>(in, b)) / (static_cast<T>(s_) * static_cast<T>(tau));
      Loops::dequantise(levels + (k - first), signs, k - first, unit, q.subspan(k - first, n));
    });
  };
  const std::byte* plane = in.data() + row.levels_at + plane_bytes(first, bits_);
  if (bits_ == 8) {
    dequantise(reinterpret_cast<const std::uint8_t*>(plane));
  } else if (bits_ < 8) {
    std::uint8_t levels[codec_stretch];
    Loops::unpack(plane, bits_, std::span(levels, q.size()));
    dequantise(levels);
  } else {
    std::uint16_t levels[codec_stretch];
    Loops::unpack(plane, bits_, std::span(levels, q.size()));
    dequantise(levels);
  }
}

template <class T, class Loops>
std::size_t Qsgd<T, Loops>::payload_bytes(std::size_t d) const {
  return Layout(d, bucket_, bits_).bytes;
}

template <class T, class Loops>
double Qsgd<T, Loops>::paper_bits(std::size_t d) const {
  const Layout row(d, bucket_, bits_);
  const double n = static_cast<double>(d);
  return n * std::log2(static_cast<double>(s_)) + n + 32.0 * static_cast<double>(row.buckets);
}

template <class T, class Loops>
double Qsgd<T, Loops>::omega(std::size_t length) const {
  const double n = static_cast<double>(length);
  const double s = static_cast<double>(s_);
  return std::min(n / (s * s), std::sqrt(n) / s);
}

// The largest bucket has the largest omega, hence the worst bound of the row.
template <class T, class Loops>
ErrorBound Qsgd<T, Loops>::error_bound(std::size_t d) const {
  const double worst = omega(Layout(d, bucket_, bits_).length_of(0));
  if (scaled_) return {.relative = 1.0 - 1.0 / (1.0 + worst)};
  return {.relative = worst, .unbiased = true};
}

template class Qsgd<float>;
template class Qsgd<double>;
template class Qsgd<float, ScalarLoops<float>>;

}  // namespace ticopd
