#include "ticopd/cuda/footprint.hpp"

namespace ticopd::cuda {
namespace {

std::size_t row_bytes(std::size_t d) {
  return (d + 127) / 128 * 128 * sizeof(float);
}

// Of a message: values, indices, planes of them and the inner codec's payload (kept.cu), each at
// most as long as the row; and sums over blocks, which together are shorter than one.
constexpr std::size_t rows_of_a_codec = 5;

}  // namespace

std::size_t Footprint::state_bytes(std::size_t agents, std::size_t links, std::size_t d) const {
  // Over links that come and go there is the mean of an agent's rows besides.
  const std::size_t rows = links > 0 ? links + agents : agents;
  return (fields * agents + surrogates * rows) * row_bytes(d);
}

std::size_t Footprint::codec_bytes(std::size_t agents, std::size_t links, std::size_t d) const {
  return mirrors * (links > 0 ? links : agents) * rows_of_a_codec * row_bytes(d);
}

}  // namespace ticopd::cuda
