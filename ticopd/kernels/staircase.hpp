#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ticopd {

// Images are mostly background. If pixels are sorted by falling number of samples with ink there,
// and samples by their rarest pixel, the ink of a shard lies under a staircase: a sample's pixels
// all come before its `reach`, and reach never falls. Tiles beyond it are zero, and both products
// skip them: half of the work on MNIST. Pixels without ink in the whole shard are dropped.
struct Staircase {
  std::vector<std::uint32_t> pixels;   // rank -> pixel
  std::vector<std::uint32_t> samples;  // position -> sample
  std::vector<std::uint32_t> reach;    // by position: 1 + the largest rank with ink, 0 if none
};

Staircase staircase(std::span<const std::uint8_t> x, std::size_t samples, std::size_t features);

// narrow(j, r) = wide(j, pixels[r]), and back: wide(j, pixels[r]) = narrow(j, r), zero elsewhere.
template <class T>
void take_columns(std::span<const std::uint32_t> pixels, const T* wide, std::size_t features,
                  std::size_t rows, T* narrow, std::size_t stride);
template <class T>
void put_columns(std::span<const std::uint32_t> pixels, const T* narrow, std::size_t stride,
                 std::size_t rows, T* wide, std::size_t features);

}  // namespace ticopd
