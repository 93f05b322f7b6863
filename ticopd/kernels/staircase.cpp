#include "ticopd/kernels/staircase.hpp"

#include <algorithm>
#include <numeric>

namespace ticopd {

Staircase staircase(std::span<const std::uint8_t> x, std::size_t samples, std::size_t features) {
  std::vector<std::uint32_t> inked(features);
  for (std::size_t i = 0; i < samples; ++i)
    for (std::size_t k = 0; k < features; ++k) inked[k] += x[i * features + k] != 0;

  Staircase stairs;
  for (std::size_t k = 0; k < features; ++k)
    if (inked[k] > 0) stairs.pixels.push_back(static_cast<std::uint32_t>(k));
  std::stable_sort(stairs.pixels.begin(), stairs.pixels.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return inked[a] > inked[b]; });

  std::vector<std::uint32_t> reach(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    std::size_t r = stairs.pixels.size();
    while (r > 0 && x[i * features + stairs.pixels[r - 1]] == 0) --r;
    reach[i] = static_cast<std::uint32_t>(r);
  }
  stairs.samples.resize(samples);
  std::iota(stairs.samples.begin(), stairs.samples.end(), 0u);
  std::stable_sort(stairs.samples.begin(), stairs.samples.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return reach[a] < reach[b]; });
  stairs.reach.reserve(samples);
  for (const std::uint32_t sample : stairs.samples) stairs.reach.push_back(reach[sample]);
  return stairs;
}

template <class T>
void take_columns(std::span<const std::uint32_t> pixels, const T* wide, std::size_t features,
                  std::size_t rows, T* narrow, std::size_t stride) {
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t r = 0; r < pixels.size(); ++r)
      narrow[j * stride + r] = wide[j * features + pixels[r]];
}

template <class T>
void put_columns(std::span<const std::uint32_t> pixels, const T* narrow, std::size_t stride,
                 std::size_t rows, T* wide, std::size_t features) {
  for (std::size_t j = 0; j < rows; ++j) {
    std::fill_n(wide + j * features, features, T(0));
    for (std::size_t r = 0; r < pixels.size(); ++r)
      wide[j * features + pixels[r]] = narrow[j * stride + r];
  }
}

template void take_columns(std::span<const std::uint32_t>, const float*, std::size_t, std::size_t,
                           float*, std::size_t);
template void take_columns(std::span<const std::uint32_t>, const double*, std::size_t, std::size_t,
                           double*, std::size_t);
template void put_columns(std::span<const std::uint32_t>, const float*, std::size_t, std::size_t,
                          float*, std::size_t);
template void put_columns(std::span<const std::uint32_t>, const double*, std::size_t, std::size_t,
                          double*, std::size_t);

}  // namespace ticopd
