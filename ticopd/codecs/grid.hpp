#pragma once

#include <algorithm>
#include <cmath>

#include "ticopd/codecs/arithmetic/cells.hpp"
#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/levels.hpp"
#include "ticopd/codecs/values.hpp"

namespace ticopd {

// Cuts the box [-r, r] into 2^bits cells and moves each coordinate to the middle of its cell. No
// norm is sent, because both ends know r = r0 kappa^(round - 1), which never falls below 2^-126. A
// coordinate outside moves to the outermost cell; saturated() counts those. S. Magnusson, H.
// Shokri-Ghadikolaei, N. Li, "On Maintaining Linear Convergence of Distributed Learning and
// Optimization under Limited Communication", 2020. Written without the paper's text
// (docs/limitations.md).
//
// Payload: a plane of cells, `bits` bits each, counted from -r. With other codings: levels
// 1, 2, ... counted from the middle, and signs.
template <class T>
class Grid final : public Codec<T> {
 public:
  static constexpr CodecAbout about{
      .name = "grid",
      .options = {"bits", "r0", "kappa", "coding"},
      .summary = "2^bits cells of a box that shrinks by kappa each round; for magnusson"};

  explicit Grid(const CodecOptions& options)
      : bits_(static_cast<unsigned>(options.bits)),
        r0_(options.r0),
        kappa_(options.kappa),
        coding_(options.coding) {}

  bool encode(std::span<const T> v, const MessageId& message, Bytes& out) const override {
    if (!all_finite(v)) return false;
    const std::size_t d = v.size();
    const CellBox box = box_of(message);
    std::vector<std::uint16_t> fields(d);
    for (std::size_t k = 0; k < d; ++k)
      fields[k] = static_cast<std::uint16_t>(box.cell(static_cast<double>(v[k]), middle()));
    out.clear();
    if (coding_ == Coding::fixed) {
      out.resize(payload_bytes(d));
      pack_fields<std::uint16_t>(fields, bits_, out);
    } else {
      Bytes signs(plane_bytes(d, 1));
      for (std::size_t k = 0; k < d; ++k) {
        const bool negative = cell_is_negative(fields[k], middle());
        signs[k / 8] |= static_cast<std::byte>(unsigned{negative} << k % 8);
        fields[k] = static_cast<std::uint16_t>(cell_level(fields[k], middle()));
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
    const T unit = box_of(message).template unit<T>(middle());
    if (coding_ == Coding::fixed) {
      if (in.size() != payload_bytes(d) || !padding_is_zero(in, d, bits_)) return false;
      unpack_fields<std::uint16_t>(in, bits_, fields);
      for (std::size_t k = 0; k < d; ++k) q[k] = cell_value(fields[k], middle(), unit);
      return true;
    }
    Bytes signs(plane_bytes(d, 1));
    if (!take_levels<std::uint16_t>(coding_, in, middle(), fields, signs)) return false;
    for (std::size_t k = 0; k < d; ++k) {
      if (fields[k] == 0) return false;
      const bool negative = (std::to_integer<unsigned>(signs[k / 8]) >> k % 8 & 1) != 0;
      q[k] = cell_value(cell_of_level(fields[k], negative, middle()), middle(), unit);
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

  // Half a cell per coordinate if nothing saturates. The cells of round 1 are the largest.
  ErrorBound error_bound(std::size_t d) const override {
    const double half_cell = std::ldexp(r0_, -static_cast<int>(bits_));
    return {.absolute = static_cast<double>(d) * half_cell * half_cell};
  }

  std::uint64_t saturated(const Source<T>& v, const MessageId& message) const override {
    const CellBox box = box_of(message);
    std::uint64_t outside = 0;
    for (std::size_t k = 0; k < v.size(); ++k) outside += box.is_outside(static_cast<double>(v[k]));
    return outside;
  }

 private:
  CellBox box_of(const MessageId& message) const { return {r0_, kappa_, message.round, middle()}; }

  // The first cell above 0.
  std::uint32_t middle() const { return 1u << (bits_ - 1); }

  unsigned bits_;
  double r0_, kappa_;
  Coding coding_;
};

}  // namespace ticopd
