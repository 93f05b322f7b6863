// Dense float features, multiplied in place: only the outputs of a tile are copied. With one output
// (least squares, logistic) the products are dot products and sums of rows, limited by memory. A
// BLAS call for a few short rows would cost more than the rows, so these are our own loops.
#include <algorithm>
#include <array>
#include <utility>

#include "ticopd/kernels/clones.hpp"
#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/gemm.hpp"

namespace ticopd {
namespace {

// z_i = x_i . w, in 16 sums side by side that are folded in halves.
template <class T>
inline __attribute__((always_inline)) void dots(const T* x, std::size_t rows, std::size_t p,
                                                const T* w, T* z) {
  constexpr std::size_t lanes = 16;
  for (std::size_t i = 0; i < rows; ++i, x += p) {
    std::array<T, lanes> sum{};
    std::size_t k = 0;
    for (; k + lanes <= p; k += lanes)
      for (std::size_t l = 0; l < lanes; ++l) sum[l] += x[k + l] * w[k + l];
    for (std::size_t l = 0; k + l < p; ++l) sum[l] += x[k + l] * w[k + l];
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
      for (std::size_t l = 0; l < half; ++l) sum[l] += sum[l + half];
    z[i] = sum[0];
  }
}

// g += sum_i delta_i x_i, four rows at a time: g is read and written a quarter as often.
template <class T>
inline __attribute__((always_inline)) void add_rows(const T* __restrict x, std::size_t rows,
                                                    std::size_t p, const T* __restrict delta,
                                                    T* __restrict g) {
  std::size_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const T* row = x + i * p;
    for (std::size_t k = 0; k < p; ++k)
      g[k] += (delta[i] * row[k] + delta[i + 1] * row[p + k]) +
              (delta[i + 2] * row[2 * p + k] + delta[i + 3] * row[3 * p + k]);
  }
  for (; i < rows; ++i)
    for (std::size_t k = 0; k < p; ++k) g[k] += delta[i] * x[i * p + k];
}

// target_clones works with functions only, not with templates.
TICOPD_CLONES void take_dots(const float* x, std::size_t rows, std::size_t p, const float* w,
                             float* z) {
  dots(x, rows, p, w, z);
}
TICOPD_CLONES void take_dots(const double* x, std::size_t rows, std::size_t p, const double* w,
                             double* z) {
  dots(x, rows, p, w, z);
}
TICOPD_CLONES void add_all_rows(const float* x, std::size_t rows, std::size_t p, const float* delta,
                                float* g) {
  add_rows(x, rows, p, delta, g);
}
TICOPD_CLONES void add_all_rows(const double* x, std::size_t rows, std::size_t p,
                                const double* delta, double* g) {
  add_rows(x, rows, p, delta, g);
}

template <class T>
class DenseRows final : public Features<T> {
 public:
  DenseRows(Dataset<T> data, std::size_t outputs)
      : Features<T>(data.samples(), data.features(), outputs), data_(std::move(data)) {}

  void sweep(std::size_t first, std::size_t last, const T* w,
             const typename Features<T>::Middle& middle, T* g) const override {
    // A tile must stay in a core's cache between the two products that read it, so it is small if
    // there are very many features.
    constexpr std::size_t entries = std::size_t{1} << 18;
    const std::size_t p = this->features_, outputs = this->outputs_;
    const std::size_t tile =
        std::clamp<std::size_t>(entries / std::max<std::size_t>(p, 1), 16, 512);
    const std::size_t stride = lane_stride(tile);
    struct Outputs;
    T* z = scratch<T, Outputs>(outputs * stride);
    if (g != nullptr) std::fill_n(g, outputs * p, T(0));
    const T* x = std::get<std::vector<T>>(data_.raw()).data();
    for (; first < last; first += tile) {
      const std::size_t count = std::min(tile, last - first);
      if (count < tile) std::fill_n(z, outputs * stride, T(0));
      forward(x + first * p, count, w, z, stride);
      middle(first, {z, stride, count});
      if (g != nullptr) backward(x + first * p, count, z, stride, g);
    }
  }

  std::vector<typename Features<T>::LayoutBytes> layouts() const override {
    return {{"dense rows", this->samples_ * this->features_ * sizeof(T)}};
  }

 protected:
  typename Dataset<T>::Features select(std::span<const std::uint32_t> positions) const override {
    return data_.select(positions).raw();
  }

  void read(std::span<const std::uint32_t> positions, T* rows) const override {
    data_.read(positions, rows);
  }

 private:
  void forward(const T* x, std::size_t count, const T* w, T* z, std::size_t stride) const {
    const std::size_t p = this->features_;
    if (this->outputs_ == 1) return take_dots(x, count, p, w, z);
    gemm(false, true, this->outputs_, count, p, T(1), w, p, x, p, T(0), z, stride);
  }

  void backward(const T* x, std::size_t count, const T* delta, std::size_t stride, T* g) const {
    const std::size_t p = this->features_;
    if (this->outputs_ == 1) return add_all_rows(x, count, p, delta, g);
    gemm(false, false, this->outputs_, p, count, T(1), delta, stride, x, p, T(1), g, p);
  }

  Dataset<T> data_;
};

}  // namespace

template <class T>
std::unique_ptr<Features<T>> dense_rows(Dataset<T> data, std::size_t outputs) {
  return std::make_unique<DenseRows<T>>(std::move(data), outputs);
}
template std::unique_ptr<Features<float>> dense_rows(Dataset<float>, std::size_t);
template std::unique_ptr<Features<double>> dense_rows(Dataset<double>, std::size_t);

}  // namespace ticopd
