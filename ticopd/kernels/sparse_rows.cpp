// Sparse features (LIBSVM): each row is a list of indices and values, read the same way in both
// products. Forward, a sample gathers the weights of its features, a row of all outputs for each;
// backward, it scatters its deltas to the same places. With one output (least squares, logistic) a
// sample is a sparse dot product.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "ticopd/kernels/features.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/kernels/sparse_sums.hpp"

namespace ticopd {
namespace {

// The sums of rows for any scalar, and for the plain kernel.
template <class T>
void gather_plain(const std::uint32_t* index, const T* value, std::size_t count, const T* rows,
                  std::size_t width, T* out) {
  std::fill_n(out, width, T(0));
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t j = 0; j < width; ++j) out[j] += value[e] * rows[index[e] * width + j];
}

template <class T>
void scatter_plain(const std::uint32_t* index, const T* value, std::size_t count, const T* row,
                   std::size_t width, T* out) {
  for (std::size_t e = 0; e < count; ++e)
    for (std::size_t j = 0; j < width; ++j) out[index[e] * width + j] += value[e] * row[j];
}

template <class T>
class SparseRowsFeatures final : public Features<T> {
 public:
  using Middle = typename Features<T>::Middle;

  SparseRowsFeatures(Dataset<T> data, std::size_t outputs)
      : Features<T>(data.samples(), data.features(), outputs),
        data_(std::move(data)),
        rows_(std::get<SparseRows<T>>(data_.raw())) {
    if constexpr (std::is_same_v<T, float>)
      if (kernel() != Kernel::plain) {
        gather_ = gather_rows;
        scatter_ = scatter_row;
      }
  }

  void sweep(std::size_t first, std::size_t last, const T* w, const Middle& middle,
             T* g) const override {
    if (g != nullptr) std::fill_n(g, this->outputs_ * this->features_, T(0));
    if (this->outputs_ == 1)
      sweep_dots(first, last, w, middle, g);
    else
      sweep_panels(first, last, w, middle, g);
  }

  std::vector<LayoutBytes> layouts() const override { return {{"sparse rows", data_.bytes()}}; }

 protected:
  typename Dataset<T>::Features select(std::span<const std::uint32_t> positions) const override {
    return data_.select(positions).raw();
  }

  void read(std::span<const std::uint32_t> positions, T* rows) const override {
    data_.read(positions, rows);
  }

 private:
  static constexpr std::size_t tile = 256;
  static constexpr std::size_t stride = lane_stride(tile);

  // Sums in double: reading memory takes longer anyway.
  void sweep_dots(std::size_t first, std::size_t last, const T* w, const Middle& middle,
                  T* g) const {
    alignas(64) T z[stride] = {};
    for (; first < last; first += tile) {
      const std::size_t count = std::min(tile, last - first);
      for (std::size_t i = 0; i < count; ++i) {
        double sum = 0.0;
        for (std::size_t e = rows_.begin[first + i]; e < rows_.begin[first + i + 1]; ++e)
          sum += static_cast<double>(rows_.value[e]) * static_cast<double>(w[rows_.index[e]]);
        z[i] = static_cast<T>(sum);
      }
      middle(first, {z, stride, count});
      for (std::size_t i = 0; g != nullptr && i < count; ++i)
        for (std::size_t e = rows_.begin[first + i]; e < rows_.begin[first + i + 1]; ++e)
          g[rows_.index[e]] += rows_.value[e] * z[i];
    }
  }

  void sweep_panels(std::size_t first, std::size_t last, const T* w, const Middle& middle,
                    T* g) const {
    struct Weights;
    struct Gradient;
    struct Outputs;
    const std::size_t width = panel_width(this->outputs_);
    const std::size_t panels = (this->outputs_ + width - 1) / width;
    const std::size_t panel = this->features_ * width;
    T* weights = scratch<T, Weights>(panels * panel);
    T* z = scratch<T, Outputs>(panels * width * stride);
    T* sums = g != nullptr ? scratch<T, Gradient>(panels * panel) : nullptr;
    for_outputs(width, [&](std::size_t j, std::size_t at) {
      for (std::size_t k = 0; k < this->features_; ++k)
        weights[at + k * width] = j < this->outputs_ ? w[j * this->features_ + k] : T(0);
    });
    if (g != nullptr) std::fill_n(sums, panels * panel, T(0));
    alignas(64) T row[sparse_width];
    for (; first < last; first += tile) {
      const std::size_t count = std::min(tile, last - first);
      std::fill_n(z, panels * width * stride, T(0));
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t e = rows_.begin[first + i], entries = rows_.begin[first + i + 1] - e;
        for (std::size_t p = 0; p < panels; ++p) {
          gather_(rows_.index.data() + e, rows_.value.data() + e, entries, weights + p * panel,
                  width, row);
          for (std::size_t j = 0; j < width; ++j) z[(p * width + j) * stride + i] = row[j];
        }
      }
      middle(first, {z, stride, count});
      for (std::size_t i = 0; g != nullptr && i < count; ++i) {
        const std::size_t e = rows_.begin[first + i], entries = rows_.begin[first + i + 1] - e;
        for (std::size_t p = 0; p < panels; ++p) {
          for (std::size_t j = 0; j < width; ++j) row[j] = z[(p * width + j) * stride + i];
          scatter_(rows_.index.data() + e, rows_.value.data() + e, entries, row, width,
                   sums + p * panel);
        }
      }
    }
    if (g == nullptr) return;
    for_outputs(width, [&](std::size_t j, std::size_t at) {
      for (std::size_t k = 0; j < this->outputs_ && k < this->features_; ++k)
        g[j * this->features_ + k] = sums[at + k * width];
    });
  }

  // f(output, where its column starts in the panels)
  template <class F>
  void for_outputs(std::size_t width, const F& f) const {
    const std::size_t panels = (this->outputs_ + width - 1) / width;
    for (std::size_t j = 0; j < panels * width; ++j)
      f(j, j / width * this->features_ * width + j % width);
  }

  Dataset<T> data_;
  const SparseRows<T>& rows_;
  void (*gather_)(const std::uint32_t*, const T*, std::size_t, const T*, std::size_t,
                  T*) = gather_plain<T>;
  void (*scatter_)(const std::uint32_t*, const T*, std::size_t, const T*, std::size_t,
                   T*) = scatter_plain<T>;
};

}  // namespace

template <class T>
std::unique_ptr<Features<T>> sparse_rows(Dataset<T> data, std::size_t outputs) {
  return std::make_unique<SparseRowsFeatures<T>>(std::move(data), outputs);
}
template std::unique_ptr<Features<float>> sparse_rows(Dataset<float>, std::size_t);
template std::unique_ptr<Features<double>> sparse_rows(Dataset<double>, std::size_t);

}  // namespace ticopd
