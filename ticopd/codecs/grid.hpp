#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/values.hpp"
#include "ticopd/error.hpp"

namespace ticopd {

// The box [-r, r] cut into 2^bits cells, each coordinate moved to the middle of its cell; no norm
// travels, because both ends know r = r0 kappa^(round - 1), which never falls below 2^-126. What
// lies outside is moved to the outermost cell, and counted by saturated(). S. Magnusson, H.
// Shokri-Ghadikolaei, N. Li, "On Maintaining Linear Convergence of Distributed Learning and
// Optimization under Limited Communication", 2020. Written without the paper's text
// (docs/limitations.md).
//
// Payload: a plane of cells, `bits` bits each, counted from -r. Other codings: levels 1, 2, ...
// counted from the middle, and signs.
template <class T>
class Grid final : public Codec<T> {
 public:
  explicit Grid(const CodecOptions& options)
      : bits_(static_cast<unsigned>(options.bits)),
        r0_(options.r0),
        kappa_(options.kappa),
        coding_(options.coding) {
    if (options.bits < 1 || options.bits > 16)
      throw ConfigError(fmt::format("codec.bits = {}: allowed are 1, 2, ..., 16", options.bits));
    if (!(r0_ > 0 && r0_ <= 0x1p126))  // and NaN
      throw ConfigError(fmt::format("codec.r0 = {}: allowed is 0 < r0 <= 2^126", r0_));
    if (!(kappa_ > 0 && kappa_ <= 1))
      throw ConfigError(fmt::format("codec.kappa = {}: allowed is 0 < kappa <= 1", kappa_));
  }

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!all_finite(v)) return false;
    const std::size_t d = v.size();
    const double half = std::ldexp(1.0, static_cast<int>(bits_) - 1);
    const double cells = half / radius(message.round);
    std::vector<std::uint16_t> fields(d);
    for (std::size_t k = 0; k < d; ++k) {
      // Never below -half, so that the cast may cut where a floor is meant.
      const double at = std::clamp(static_cast<double>(v[k]) * cells, -half, half - 0.5) + half;
      fields[k] = static_cast<std::uint16_t>(static_cast<int>(at));
    }
    out.clear();
    if (coding_ == Coding::fixed) {
      out.resize(payload_bytes(d));
      pack_fields<std::uint16_t>(fields, bits_, out);
    } else {
      Bytes signs(plane_bytes(d, 1));
      for (std::size_t k = 0; k < d; ++k) {
        const bool negative = fields[k] < middle();
        signs[k / 8] |= static_cast<std::byte>(unsigned{negative} << k % 8);
        fields[k] =
            static_cast<std::uint16_t>(negative ? middle() - fields[k] : fields[k] - middle() + 1);
      }
      append_levels<std::uint16_t>(coding_, fields, signs, middle(), out);
    }
    return true;
  }

  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<T> q) const override {
    const std::size_t d = q.size();
    if (in.size() > payload_bytes(d)) return false;
    std::vector<std::uint16_t> fields(d);
    const T unit = static_cast<T>(std::ldexp(radius(message.round), -static_cast<int>(bits_)));
    if (coding_ == Coding::fixed) {
      if (in.size() != payload_bytes(d) || !padding_is_zero(in, d, bits_)) return false;
      unpack_fields<std::uint16_t>(in, bits_, fields);
      const int top = (1 << bits_) - 1;
      for (std::size_t k = 0; k < d; ++k) q[k] = static_cast<T>(2 * fields[k] - top) * unit;
      return true;
    }
    Bytes signs(plane_bytes(d, 1));
    if (!take_levels<std::uint16_t>(coding_, in, middle(), fields, signs)) return false;
    for (std::size_t k = 0; k < d; ++k) {
      if (fields[k] == 0) return false;
      const bool negative = (std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1) != 0;
      q[k] = static_cast<T>(2 * fields[k] - 1) * (negative ? -unit : unit);
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override {
    return coding_ == Coding::fixed ? plane_bytes(d, bits_)
                                    : most_level_bytes(coding_, d, middle());
  }
  bool fixed_length() const override { return coding_ == Coding::fixed; }
  double paper_bits(std::size_t d) const override {
    return static_cast<double>(d) * static_cast<double>(bits_);
  }

  // Half a cell a coordinate, the cells of round 1, which are the largest; where nothing saturates.
  ErrorBound error_bound(std::size_t d) const override {
    const double half_cell = std::ldexp(r0_, -static_cast<int>(bits_));
    return {.absolute = static_cast<double>(d) * half_cell * half_cell};
  }

  std::uint64_t saturated(const Source<T>& v, const MessageId& message) const override {
    const double r = radius(message.round);
    std::uint64_t outside = 0;
    for (std::size_t k = 0; k < v.size(); ++k)
      outside += !(std::abs(static_cast<double>(v[k])) <= r);
    return outside;
  }

 private:
  // By squaring, since std::pow need not round alike everywhere. Round 0, before the first, has the
  // box of round 1.
  double radius(std::uint32_t round) const {
    double r = r0_, power = kappa_;
    for (std::uint32_t n = round == 0 ? 0 : round - 1; n > 0; n >>= 1, power *= power)
      if (n & 1) r *= power;
    return std::max(r, 0x1p-126);
  }

  // The first cell above 0.
  std::uint32_t middle() const { return 1u << (bits_ - 1); }

  unsigned bits_;
  double r0_, kappa_;
  Coding coding_;
};

}  // namespace ticopd
