// Pixels are bytes, and the tile unit (AMX) multiplies bytes: 16 x 64 times 64 x 16 in one
// instruction, with sums in 32-bit integers. So the other operand is made of bytes too: each row of
// w, and each row of deltas of a tile of 512 samples, is divided by its own largest entry, rounded
// to 23 bits and a sign, and written as three signed base-256 digits (base256.hpp). The three
// products with the pixels are exact in any order, and are joined in float at the end.
//
// The error is thus one rounding of every entry to 6e-8 of the largest in its row, and a handful of
// float roundings of the result: in norm below 3e-7 of the product in float64, as float products
// are. The error is relative to the row's largest entry: an entry far below it keeps fewer bits.
//
// X is kept twice, as tiles for either product, under the staircase (staircase.hpp): forward, 32
// samples by the pixels up to their reach; backward, 32 pixels by the samples from the first that
// reaches them. Only those tiles are kept, read and multiplied: half of them on MNIST.
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/kernels/amx_probe.hpp"
#include "ticopd/kernels/base256.hpp"
#include "ticopd/kernels/base256_product.hpp"
#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/pixel_panels.hpp"
#include "ticopd/kernels/staircase.hpp"

namespace ticopd {
namespace {

constexpr std::size_t step_entries = tile_row_bytes;

constexpr std::size_t pieces(std::size_t count, std::size_t of) {
  return (count + of - 1) / of;
}

// Forward, for each 32 samples: the pixels up to the reach of the last.
std::vector<PixelPanels::Steps> forward_steps(const Staircase& stairs) {
  const std::size_t samples = stairs.samples.size();
  std::vector<PixelPanels::Steps> steps(pieces(samples, panel_columns));
  for (std::size_t c = 0; c < steps.size(); ++c) {
    const std::size_t last = std::min(samples, (c + 1) * panel_columns) - 1;
    steps[c] = {0, pieces(stairs.reach[last], step_entries)};
  }
  return steps;
}

// Backward, for each 32 pixels: the samples from the first that reaches them.
std::vector<PixelPanels::Steps> backward_steps(const Staircase& stairs) {
  const std::size_t samples = stairs.samples.size();
  std::vector<PixelPanels::Steps> steps(pieces(stairs.pixels.size(), panel_columns));
  std::size_t first = 0;
  for (std::size_t c = 0; c < steps.size(); ++c) {
    while (stairs.reach[first] <= c * panel_columns) ++first;
    steps[c] = {first / step_entries, pieces(samples, step_entries)};
  }
  return steps;
}

template <class Tiles>
class DigitPixels final : public Features<float> {
 public:
  DigitPixels(const Dataset<float>& data, std::size_t outputs, Sweeps sweeps)
      : Features<float>(data.samples(), data.features(), outputs), sweeps_(sweeps) {
    const auto& all = std::get<std::vector<std::uint8_t>>(data.raw());
    Staircase stairs = staircase(all, samples_, features_);
    forward_ = PixelPanels(forward_steps(stairs));
    if (sweeps == Sweeps::gradients) backward_ = PixelPanels(backward_steps(stairs));
    for (std::size_t i = 0; i < samples_; ++i) {
      const std::uint8_t* row = all.data() + stairs.samples[i] * features_;
      for (std::size_t r = 0; r < stairs.reach[i]; ++r) {
        forward_.entry(r, i) = row[stairs.pixels[r]];
        if (sweeps == Sweeps::gradients) backward_.entry(i, r) = row[stairs.pixels[r]];
      }
    }
    order_ = std::move(stairs.samples);
    pixels_ = std::move(stairs.pixels);
    reach_ = std::move(stairs.reach);
  }

  void sweep(std::size_t first, std::size_t last, const float* w, const Middle& middle,
             float* g) const override {
    if (g != nullptr && sweeps_ == Sweeps::values)
      throw std::logic_error("DigitPixels: a gradient of features kept for values");
    struct Outputs;
    struct Gradient;
    const std::size_t columns = lane_stride(pixels_.size() + panel_columns);
    const DigitRows weights = split_weights(w);
    float* z = scratch<float, Outputs>(outputs_ * stride);
    float* sum = g != nullptr ? scratch<float, Gradient>(outputs_ * columns) : nullptr;
    if (g != nullptr) std::fill_n(sum, outputs_ * columns, 0.0f);
    for (; first < last; first += tile) {
      const std::size_t count = std::min(tile, last - first);
      forward(weights, first, count, z);
      clear_behind(z, count);
      middle(first, {z, stride, count});
      if (g == nullptr) continue;
      clear_behind(z, count);
      backward(z, first, count, sum, columns);
    }
    if (g != nullptr) put_columns<float>(pixels_, sum, columns, outputs_, g, features_);
  }

  std::vector<LayoutBytes> layouts() const override {
    std::vector<LayoutBytes> layouts{{"int8 tiles forward", forward_.bytes()}};
    if (sweeps_ == Sweeps::gradients) layouts.push_back({"int8 tiles backward", backward_.bytes()});
    return layouts;
  }

 protected:
  void read(std::span<const std::uint32_t> positions, float* rows) const override {
    std::fill_n(rows, positions.size() * features_, 0.0f);
    for (const std::uint32_t i : positions) {
      for (std::size_t r = 0; r < reach_[i]; ++r)
        rows[pixels_[r]] = static_cast<float>(forward_.entry(r, i)) / 255.0f;
      rows += features_;
    }
  }

 private:
  static constexpr std::size_t tile = 512;
  static constexpr std::size_t stride = lane_stride(tile);

  // Only the kept pixels: the weights of the others are not read.
  DigitRows split_weights(const float* w) const {
    struct Row;
    struct Digits;
    struct Step;
    const std::size_t p = pixels_.size(), steps = pieces(p, step_entries);
    float* row = scratch<float, Row>(steps * step_entries);
    std::fill_n(row, steps * step_entries, 0.0f);
    const DigitRows weights(scratch<std::int8_t, Digits>(DigitRows::bytes(outputs_, steps)),
                            scratch<float, Step>(outputs_), outputs_, steps);
    for (std::size_t j = 0; j < outputs_; ++j) {
      take_columns<float>(pixels_, w + j * features_, features_, 1, row, p);
      weights.split(j, row);
    }
    return weights;
  }

  // The tiles are configured for the products only: `middle` may be anything.
  void forward(const DigitRows& weights, std::size_t first, std::size_t count, float* z) const {
    Tiles tiles;
    const std::size_t begin = first / panel_columns, end = pieces(first + count, panel_columns);
    for (std::size_t c = begin; c < end; ++c) {
      const Ahead next =
          c + 1 < forward_.size() ? ahead(forward_, c + 1, forward_.steps(c + 1)) : Ahead();
      multiply_panel(tiles, weights, 0, forward_.pair(c, 0), forward_.steps(c).to, false,
                     z + (c - begin) * panel_columns, stride, next);
    }
  }

  void backward(const float* deltas, std::size_t first, std::size_t count, float* sum,
                std::size_t columns) const {
    struct Digits;
    struct Step;
    const std::size_t begin = first / step_entries, end = pieces(first + count, step_entries);
    const DigitRows rows(scratch<std::int8_t, Digits>(DigitRows::bytes(outputs_, end - begin)),
                         scratch<float, Step>(outputs_), outputs_, end - begin);
    for (std::size_t j = 0; j < outputs_; ++j)
      if (!rows.split(j, deltas + j * stride))  // also for pixels that these samples do not reach
        std::fill_n(sum + j * columns, columns, std::numeric_limits<float>::quiet_NaN());

    Tiles tiles;
    const auto here = [&](std::size_t c) {
      return PixelPanels::Steps{std::max(begin, backward_.steps(c).from), end};
    };
    for (std::size_t c = 0; c < backward_.size() && here(c).from < end; ++c) {
      const Ahead next = c + 1 < backward_.size() && here(c + 1).from < end
                             ? ahead(backward_, c + 1, here(c + 1))
                             : Ahead();
      const std::size_t from = here(c).from;
      multiply_panel(tiles, rows, from - begin, backward_.pair(c, from), end - from, true,
                     sum + c * panel_columns, columns, next);
    }
  }

  static Ahead ahead(const PixelPanels& panels, std::size_t c, PixelPanels::Steps steps) {
    return {panels.pair(c, steps.from), (steps.to - steps.from) * tile_pair};
  }

  // Columns up to a whole step: panels and models write the padding too, and the search for the
  // deltas' largest entry reads it.
  void clear_behind(float* z, std::size_t count) const {
    const std::size_t end = pieces(count, step_entries) * step_entries;
    for (std::size_t j = 0; j < outputs_; ++j)
      std::fill(z + j * stride + count, z + j * stride + end, 0.0f);
  }

  Sweeps sweeps_;
  PixelPanels forward_, backward_;  // pixels by samples, samples by pixels
  std::vector<std::uint32_t> pixels_, reach_;
};

}  // namespace

#if defined(__x86_64__)
std::unique_ptr<Features<float>> int8_pixels(Dataset<float> data, std::size_t outputs,
                                             Sweeps sweeps) {
  if (cpu_has_amx()) return std::make_unique<DigitPixels<HardwareTiles>>(data, outputs, sweeps);
  throw UnavailableError("the amx kernel needs a processor with AMX (int8), not found here");
}
#else
std::unique_ptr<Features<float>> int8_pixels(Dataset<float>, std::size_t, Sweeps) {
  throw UnavailableError("the amx kernel needs an x86-64 processor with AMX (int8)");
}
#endif

std::unique_ptr<Features<float>> int8_pixels_emulated(Dataset<float> data, std::size_t outputs,
                                                      Sweeps sweeps) {
  return std::make_unique<DigitPixels<EmulatedTiles>>(data, outputs, sweeps);
}

}  // namespace ticopd
