#include "ticopd/codecs/adaptive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "ticopd/codecs/arithmetic/points.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/ternary.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/codecs/vector_loops.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

std::size_t exponent_field(double magnitude) {
  return std::bit_cast<std::uint64_t>(magnitude) >> 52;
}

// Returns false for digits that put_ternary does not write for levels 0 ... top.
bool take_level(TernaryReader& digits, std::uint32_t top, std::uint32_t& level, bool& negative) {
  level = 0;
  negative = false;
  unsigned digit = digits.get();
  if (digit < ternary_stop) {
    negative = digit == 1;
    for (level = 1; (digit = digits.get()) < ternary_stop;) {
      level = level << 1 | digit;
      if (level > top) return false;
    }
  }
  return digit == ternary_stop && level <= top;
}

}  // namespace

template <class T>
Adaptive<T>::Adaptive(const CodecOptions& options)
    : omega_(options.omega), step_(options.step), coding_(options.coding) {
  each_point(omega_, step_, [this](double point) { points_.push_back(point); });
  const std::size_t exponents = exponent_field(points_.back()) + 2;
  std::uint32_t last = 0;
  for (std::size_t e = 0; e < exponents; ++e) {
    const double least = std::bit_cast<double>(std::uint64_t{e} << 52);
    while (last < top() && points_[last + 1] <= least) ++last;
    starts_.push_back(last);
  }
}

// Searches only the points of one exponent.
template <class T>
std::uint32_t Adaptive<T>::level_of(double magnitude, std::uint32_t word) const {
  const std::size_t e = exponent_field(magnitude);
  return point_level(points_.data(), starts_[e], starts_[e + 1], top(), magnitude, word);
}

template <class T>
bool Adaptive<T>::encode(std::span<const T> v, const MessageId& message, Bytes& out) const {
  const double largest = static_cast<double>(largest_magnitude(Source<T>(v)));
  if (!(largest <= points_.back())) return false;  // rejects NaN too
  const std::size_t d = v.size();
  std::vector<std::uint16_t> levels(d);
  for (std::size_t first = 0; first < d; first += codec_stretch) {
    const auto some = v.subspan(first, std::min(codec_stretch, d - first));
    alignas(64) std::uint32_t noise[codec_stretch];
    BestLoops<T>::draw(message, first, some.size(), noise);
    for (std::size_t k = 0; k < some.size(); ++k) {
      const double magnitude = static_cast<double>(std::abs(some[k]));
      levels[first + k] = static_cast<std::uint16_t>(level_of(magnitude, noise[k]));
    }
  }
  out.clear();
  if (coding_ == Coding::fixed) {
    TernaryWriter digits(out);
    for (std::size_t k = 0; k < d; ++k)
      put_ternary(levels[k], is_negative(v[k]), [&](unsigned digit) { digits.put(digit); });
    digits.finish();
  } else {
    Bytes signs(plane_bytes(d, 1));
    BestLoops<T>::take_signs(Source<T>(v), signs.data());
    append_levels<std::uint16_t>(coding_, levels, signs, top(), out);
  }
  return true;
}

template <class T>
bool Adaptive<T>::take(std::span<const std::byte> in, std::span<std::uint16_t> levels,
                       std::span<std::byte> signs) const {
  if (in.size() > payload_bytes(levels.size())) return false;
  if (coding_ != Coding::fixed)
    return take_levels<std::uint16_t>(coding_, in, top(), levels, signs);
  TernaryReader digits(in);
  std::fill(signs.begin(), signs.end(), std::byte{0});
  for (std::size_t k = 0; k < levels.size(); ++k) {
    std::uint32_t level = 0;
    bool negative = false;
    if (!take_level(digits, top(), level, negative)) return false;
    levels[k] = static_cast<std::uint16_t>(level);
    signs[k / 8] |= static_cast<std::byte>(unsigned{negative} << k % 8);
  }
  return digits.at_end();
}

template <class T>
bool Adaptive<T>::decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const {
  std::vector<std::uint16_t> levels(q.size());
  Bytes signs(plane_bytes(q.size(), 1));
  if (!take(in, levels, signs)) return false;
  for (std::size_t k = 0; k < q.size(); ++k) {
    const bool negative = (std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1) != 0;
    const double point = points_[levels[k]];
    q[k] = static_cast<T>(negative ? -point : point);
  }
  return true;
}

template <class T>
std::size_t Adaptive<T>::payload_bytes(std::size_t d) const {
  if (coding_ != Coding::fixed) return most_level_bytes(coding_, d, top());
  return ternary_bytes(d * ternary_digits(top()));
}

template <class T>
double Adaptive<T>::paper_bits(std::size_t d) const {
  return std::log2(3.0) * static_cast<double>(d) * static_cast<double>(ternary_digits(top()));
}

template <class T>
double Adaptive<T>::paper_bits_of(std::span<const std::byte> in, std::size_t d) const {
  std::vector<std::uint16_t> levels(d);
  Bytes signs(plane_bytes(d, 1));
  if (!take(in, levels, signs)) return 0.0;
  std::size_t digits = 0;
  for (const std::uint16_t level : levels) digits += ternary_digits(level);
  return std::log2(3.0) * static_cast<double>(digits);
}

// Shift by step / omega, so that neighbouring points a < b have b / a = r. Relative to y^2, the
// variance (y - a) (b - y) is largest at y = 2 a b / (a + b), where it is
// (r - 1)^2 / (4 r) = omega^2. Hence E|Q(x) - x|^2 <= (omega |x| + step)^2 <= 2 omega^2 x^2 + 2
// step^2.
template <class T>
ErrorBound Adaptive<T>::error_bound(std::size_t d) const {
  return {.relative = 2 * omega_ * omega_,
          .absolute = 2 * static_cast<double>(d) * step_ * step_,
          .unbiased = true};
}

template class Adaptive<float>;
template class Adaptive<double>;

}  // namespace ticopd
