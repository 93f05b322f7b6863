#include "ticopd/codecs/qsgd.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/codecs/values.hpp"
#include "ticopd/error.hpp"
#include "ticopd/network/sum.hpp"

namespace ticopd {
namespace {

// u of the coordinates first ... first + count - 1; `first` is a multiple of four. Buckets do not
// restart it: a coordinate's noise is a matter of its place in the row.
void draw(const Noise& message, std::size_t first, std::size_t count, std::span<float, chunk> u) {
  for (std::size_t j = 0; j < count; j += 4) {
    const Noise::Block block = message.block(static_cast<std::uint32_t>((first + j) / 4));
    for (std::size_t lane = 0; lane < 4; ++lane) u[j + lane] = Noise::to_uniform(block[lane]);
  }
}

// What turns a bucket's coordinates into levels.
template <class T>
struct Scale {
  // s / norm overflows a float for a norm below 2^-120; a power of two on both sides is exact.
  Scale(float norm, std::uint32_t s)
      : top(static_cast<T>(s)),
        lift(norm < 0x1p-64f ? T{0x1p64} : T{1}),
        scale(norm > 0 ? top / (static_cast<T>(norm) * lift) : T{0}) {}

  void quantise(std::span<const T> v, const float* u, std::uint16_t* levels) const {
    for (std::size_t j = 0; j < v.size(); ++j) {
      const T x = (std::abs(v[j]) * lift) * scale + static_cast<T>(u[j]);
      // Nothing here is negative, so the cast is floor. Rounding can reach s + 1: hence the clamp.
      levels[j] = static_cast<std::uint16_t>(static_cast<int>(x < top ? x : top));
    }
  }

  T top, lift, scale;
};

}  // namespace

template <class T>
struct Qsgd<T>::Layout {
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

  std::size_t d, length, buckets, levels_at, signs_at, bytes;
};

template <class T>
Qsgd<T>::Qsgd(const CodecOptions& options)
    : bits_(static_cast<unsigned>(options.bits)),
      s_((1u << (bits_ & 31u)) - 1),
      scaled_(options.scaled),
      bucket_(options.bucket) {
  if (options.bits < 1 || options.bits > 16)
    throw ConfigError(fmt::format("codec.bits = {}: allowed are 1, 2, ..., 16", options.bits));
}

template <class T>
bool Qsgd<T>::encode(std::span<const T> v, const Noise& message, Bytes& out) const {
  const Layout row(v.size(), bucket_, bits_);
  out.resize(row.bytes);
  const std::span<std::byte> bytes(out);
  for (std::size_t b = 0; b < row.buckets; ++b) {
    const double norm = std::sqrt(sum_of_squares(v.subspan(row.first_of(b), row.length_of(b))));
    // False for a NaN as well, and every NaN or infinity in v ends up in a norm.
    if (!(norm <= largest_norm)) return false;
    store_value(static_cast<float>(norm), b, bytes);
  }
  alignas(16) float u[chunk];
  alignas(16) std::uint16_t levels[chunk];
  for (std::size_t first = 0; first < row.d; first += chunk) {
    const std::size_t count = std::min(chunk, row.d - first);
    draw(message, first, count, u);
    row.each_bucket(first, first + count, [&](std::size_t b, std::size_t k, std::size_t n) {
      const Scale<T> scale(load_value<float>(bytes, b), s_);
      scale.quantise(v.subspan(k, n), u + (k - first), levels + (k - first));
    });
    pack_fields({levels, count}, bits_, bytes.subspan(row.levels_at + plane_bytes(first, bits_)));
    store_word(sign_word(v.subspan(first, count)),
               bytes.subspan(row.signs_at + first / 8, plane_bytes(count, 1)));
  }
  return true;
}

template <class T>
bool Qsgd<T>::decode(std::span<const std::byte> in, const Noise&, std::span<T> q) const {
  const Layout row(q.size(), bucket_, bits_);
  if (in.size() != row.bytes) return false;
  for (std::size_t b = 0; b < row.buckets; ++b) {
    const float norm = load_value<float>(in, b);
    if (!(norm <= largest_norm) || std::signbit(norm)) return false;
  }
  const auto level_plane = in.subspan(row.levels_at, row.signs_at - row.levels_at);
  const auto sign_plane = in.subspan(row.signs_at);
  if (!padding_is_zero(level_plane, row.d, bits_) || !padding_is_zero(sign_plane, row.d, 1))
    return false;

  alignas(16) std::uint16_t levels[chunk];
  for (std::size_t first = 0; first < row.d; first += chunk) {
    const std::size_t count = std::min(chunk, row.d - first);
    unpack_fields(level_plane.subspan(plane_bytes(first, bits_)), bits_, {levels, count});
    const std::uint64_t negative = load_word(sign_plane.subspan(first / 8));
    row.each_bucket(first, first + count, [&](std::size_t b, std::size_t k, std::size_t n) {
      const double tau = scaled_ ? 1.0 + omega(row.length_of(b)) : 1.0;
      const T unit =
          static_cast<T>(load_value<float>(in, b)) / (static_cast<T>(s_) * static_cast<T>(tau));
      const T signed_unit[2] = {unit, -unit};
      for (std::size_t j = k - first; j < k - first + n; ++j)
        q[first + j] = static_cast<T>(levels[j]) * signed_unit[negative >> j & 1];
    });
  }
  return true;
}

template <class T>
std::size_t Qsgd<T>::payload_bytes(std::size_t d) const {
  return Layout(d, bucket_, bits_).bytes;
}

template <class T>
double Qsgd<T>::paper_bits(std::size_t d) const {
  const Layout row(d, bucket_, bits_);
  const double n = static_cast<double>(d);
  return n * std::log2(static_cast<double>(s_)) + n + 32.0 * static_cast<double>(row.buckets);
}

template <class T>
double Qsgd<T>::omega(std::size_t length) const {
  const double n = static_cast<double>(length);
  const double s = static_cast<double>(s_);
  return std::min(n / (s * s), std::sqrt(n) / s);
}

// The largest bucket has the largest omega, hence the worst bound of the row.
template <class T>
std::optional<double> Qsgd<T>::contraction(std::size_t d) const {
  const double worst = omega(Layout(d, bucket_, bits_).length_of(0));
  if (scaled_) return 1.0 - std::sqrt(1.0 - 1.0 / (1.0 + worst));
  if (worst < 1.0) return 1.0 - std::sqrt(worst);
  return std::nullopt;
}

template class Qsgd<float>;
template class Qsgd<double>;

}  // namespace ticopd
