#include "ticopd/kernels/features.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace ticopd {
namespace {

template <class T>
using Made = std::unique_ptr<Features<T>>;

template <class T>
Made<T> make_pixels(Dataset<T> data, std::size_t outputs, Sweeps sweeps) {
  if constexpr (std::is_same_v<T, float>) {
    // Both kernels compute many outputs at once: with few, most of a vector would be padding.
    const bool wide = outputs >= 8;
    if (kernel() == Kernel::amx && wide) return int8_pixels(std::move(data), outputs, sweeps);
    if (kernel() == Kernel::avx512 && wide) return sparse_pixels(std::move(data), outputs, sweeps);
  }
  return staircase_pixels(std::move(data), outputs);
}

}  // namespace

template <class T>
Made<T> make_features(Dataset<T> data, std::size_t outputs, Sweeps sweeps) {
  kernel();  // chosen here, where a wrong TICOPD_KERNEL is an error before any thread starts
  if (std::holds_alternative<std::vector<std::uint8_t>>(data.raw()))
    return make_pixels(std::move(data), outputs, sweeps);
  if (std::holds_alternative<SparseRows<T>>(data.raw()))
    return sparse_rows(std::move(data), outputs);
  return dense_rows(std::move(data), outputs);
}

// A batch is drawn anew each round, so a layout for it would not pay: its rows are gathered and
// multiplied densely.
template <class T>
void Features<T>::sweep_list(std::span<const std::uint32_t> positions, const T* w,
                             const Middle& middle, T* g) const {
  constexpr std::size_t most = 256;
  struct Rows;
  struct Outputs;
  const std::size_t stride = lane_stride(std::min(most, positions.size()));
  T* rows = scratch<T, Rows>(std::min(most, positions.size()) * features_);
  T* z = scratch<T, Outputs>(outputs_ * stride);
  if (g != nullptr) std::fill_n(g, outputs_ * features_, T(0));
  for (std::size_t first = 0; first < positions.size(); first += most) {
    const std::size_t count = std::min(most, positions.size() - first);
    read(positions.subspan(first, count), rows);
    std::fill_n(z, outputs_ * stride, T(0));
    gemm(false, true, outputs_, count, features_, T(1), w, features_, rows, features_, T(0), z,
         stride);
    middle(first, {z, stride, count});
    if (g != nullptr)
      gemm(false, false, outputs_, features_, count, T(1), z, stride, rows, features_, T(1), g,
           features_);
  }
}

template <class T>
typename Dataset<T>::Features Features<T>::select(std::span<const std::uint32_t> positions) const {
  std::vector<std::uint8_t> pixels;
  std::vector<T> row(features_);
  for (const std::uint32_t position : positions) {
    read(std::span(&position, 1), row.data());
    for (const T v : row) pixels.push_back(static_cast<std::uint8_t>(std::lround(v * T(255))));
  }
  return pixels;
}

template class Features<float>;
template class Features<double>;
template Made<float> make_features(Dataset<float>, std::size_t, Sweeps);
template Made<double> make_features(Dataset<double>, std::size_t, Sweeps);

}  // namespace ticopd
