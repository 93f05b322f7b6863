// Images as bytes under their staircase (staircase.hpp), a quarter of the memory of floats. A tile
// of samples becomes floats up to the reach of its last one, and two matrix products, by OpenBLAS
// or the portable loop, do the rest. The floats of a tile stay in cache between the two.
#include <algorithm>
#include <utility>

#include "ticopd/kernels/clones.hpp"
#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/staircase.hpp"

namespace ticopd {
namespace {

// v / 255. A division is slow, and a product with the rounded 1/255 has the same relative error for
// all pixels. So the rounding error of 1/255 is multiplied and added too. In double it does not
// matter.
TICOPD_CLONES void to_numbers(const std::uint8_t* in, std::size_t count, float* out) {
  constexpr float scale = 1.0f / 255.0f;
  constexpr float lost = static_cast<float>(1.0 / 255.0 - static_cast<double>(scale));
  for (std::size_t k = 0; k < count; ++k) {
    const float v = static_cast<float>(in[k]);
    out[k] = v * scale + v * lost;
  }
}
TICOPD_CLONES void to_numbers(const std::uint8_t* in, std::size_t count, double* out) {
  for (std::size_t k = 0; k < count; ++k) out[k] = static_cast<double>(in[k]) * (1.0 / 255.0);
}

template <class T>
class StaircasePixels final : public Features<T> {
 public:
  StaircasePixels(const Dataset<T>& data, std::size_t outputs)
      : Features<T>(data.samples(), data.features(), outputs) {
    const auto& all = std::get<std::vector<std::uint8_t>>(data.raw());
    Staircase stairs = staircase(all, this->samples_, this->features_);
    ink_.reserve(this->samples_ * stairs.pixels.size());
    for (const std::uint32_t sample : stairs.samples)
      for (const std::uint32_t pixel : stairs.pixels)
        ink_.push_back(all[sample * this->features_ + pixel]);
    this->order_ = std::move(stairs.samples);
    pixels_ = std::move(stairs.pixels);
    reach_ = std::move(stairs.reach);
  }

  void sweep(std::size_t first, std::size_t last, const T* w,
             const typename Features<T>::Middle& middle, T* g) const override {
    constexpr std::size_t tile = 128, sum_pixels = 128;  // longer sums would lose digits
    constexpr std::size_t stride = lane_stride(tile);
    const std::size_t p = pixels_.size(), outputs = this->outputs_;
    struct Weights;
    struct Gradient;
    struct Tile;
    struct Outputs;
    T* narrow = scratch<T, Weights>(outputs * p);
    T* sum = g != nullptr ? scratch<T, Gradient>(outputs * p) : nullptr;
    T* x = scratch<T, Tile>(tile * p);
    T* z = scratch<T, Outputs>(outputs * stride);
    take_columns<T>(pixels_, w, this->features_, outputs, narrow, p);
    if (g != nullptr) std::fill_n(sum, outputs * p, T(0));
    for (; first < last; first += tile) {
      const std::size_t count = std::min(tile, last - first);
      const std::size_t reach = reach_[first + count - 1];
      for (std::size_t i = 0; i < count; ++i)
        to_numbers(ink_.data() + (first + i) * p, reach, x + i * reach);
      if (count < tile || reach == 0) std::fill_n(z, outputs * stride, T(0));
      for (std::size_t k = 0; k < reach; k += sum_pixels)
        gemm(false, true, outputs, count, std::min(sum_pixels, reach - k), T(1), narrow + k, p,
             x + k, reach, k == 0 ? T(0) : T(1), z, stride);
      middle(first, {z, stride, count});
      if (g != nullptr && reach > 0)
        gemm(false, false, outputs, reach, count, T(1), z, stride, x, reach, T(1), sum, p);
    }
    if (g != nullptr) put_columns<T>(pixels_, sum, p, outputs, g, this->features_);
  }

  std::vector<typename Features<T>::LayoutBytes> layouts() const override {
    return {{"staircase pixels", ink_.size()}};
  }

 protected:
  void read(std::span<const std::uint32_t> positions, T* rows) const override {
    struct Row;
    const std::size_t p = pixels_.size();
    T* row = scratch<T, Row>(p);
    std::fill_n(rows, positions.size() * this->features_, T(0));
    for (const std::uint32_t position : positions) {
      to_numbers(ink_.data() + position * p, p, row);
      for (std::size_t r = 0; r < p; ++r) rows[pixels_[r]] = row[r];
      rows += this->features_;
    }
  }

 private:
  std::vector<std::uint8_t> ink_;  // by position, then rank
  std::vector<std::uint32_t> pixels_, reach_;
};

}  // namespace

template <class T>
std::unique_ptr<Features<T>> staircase_pixels(Dataset<T> data, std::size_t outputs) {
  return std::make_unique<StaircasePixels<T>>(data, outputs);
}
template std::unique_ptr<Features<float>> staircase_pixels(Dataset<float>, std::size_t);
template std::unique_ptr<Features<double>> staircase_pixels(Dataset<double>, std::size_t);

}  // namespace ticopd
