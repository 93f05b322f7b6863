#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace ticopd {

// One fixed tree for every sum that must be the same in scalar, SIMD and GPU code and with any
// number of threads: coordinates are cut into blocks of 128; inside a block coordinate k goes to
// lane k mod 16 and each lane adds in order; lanes fold in halves (j += j + 8, 4, 2, 1). Block b is
// then added to lane b mod 16 of the same tree. All in fp64. Frozen in docs/wire_format.md.
inline constexpr std::size_t sum_lanes = 16;
inline constexpr std::size_t sum_block = 128;

using SumLanes = std::array<double, sum_lanes>;

inline double fold(SumLanes lanes) {
  for (std::size_t half = sum_lanes / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  return lanes[0];
}

constexpr std::size_t sum_blocks(std::size_t count) {
  return (count + sum_block - 1) / sum_block;
}

// sum of term(k) for k in [first, last), one block
template <class Term>
double sum_of_block(std::size_t first, std::size_t last, Term term) {
  SumLanes lanes{};
  std::size_t k = first;
  for (; k + sum_lanes <= last; k += sum_lanes)
    for (std::size_t j = 0; j < sum_lanes; ++j) lanes[j] += term(k + j);
  for (std::size_t j = 0; k + j < last; ++j) lanes[j] += term(k + j);
  return fold(lanes);
}

// The whole sum from those of all blocks, whoever made them.
inline double sum_of_blocks(std::span<const double> sums) {
  SumLanes blocks{};
  for (std::size_t b = 0; b < sums.size(); ++b) blocks[b % sum_lanes] += sums[b];
  return fold(blocks);
}

// sum of term(k) for k in [0, count)
template <class Term>
double tree_sum(std::size_t count, Term term) {
  SumLanes blocks{};
  for (std::size_t first = 0, b = 0; first < count; first += sum_block, ++b)
    blocks[b % sum_lanes] += sum_of_block(first, std::min(count, first + sum_block), term);
  return fold(blocks);
}

template <class T>
double sum_of_squares(std::span<const T> v) {
  return tree_sum(v.size(), [v](std::size_t k) {
    const double a = static_cast<double>(v[k]);
    return a * a;
  });
}

template <class T>
double sum_of_squared_differences(std::span<const T> v, std::span<const T> w) {
  return tree_sum(v.size(), [v, w](std::size_t k) {
    const double a = static_cast<double>(v[k]) - static_cast<double>(w[k]);
    return a * a;
  });
}

}  // namespace ticopd
