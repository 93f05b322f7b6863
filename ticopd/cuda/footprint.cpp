#include "ticopd/cuda/footprint.hpp"

#include "ticopd/cuda/runtime/memory.hpp"

namespace ticopd::cuda {
namespace {

std::size_t row_bytes(std::size_t d) {
  return padded(d) * sizeof(float);
}

// The bytes of one message: values, indices, their planes and the inner codec's payload (kept.cu),
// each at most as long as the row; sums over blocks, which together are shorter than a row; per
// bucket its norm, gauge and sum; and the search for the largest.
std::size_t message_bytes(std::size_t d, const CodecOptions& codec) {
  if (codec.kind == "identity") return 0;
  const std::size_t buckets = codec.bucket > 0 ? (d + codec.bucket - 1) / codec.bucket : 1;
  return 5 * row_bytes(d) + 28 * buckets + (codec.kind == "top_k" ? 8192 : 0);
}

}  // namespace

std::size_t Footprint::state_bytes(std::size_t agents, std::size_t links, std::size_t d) const {
  // Over links that come and go, each agent also has the mean of its rows.
  const std::size_t rows = links > 0 ? links + agents : agents;
  return (fields * agents + surrogates * rows) * row_bytes(d);
}

std::size_t Footprint::codec_bytes(std::size_t agents, std::size_t links, std::size_t d,
                                   const CodecOptions& codec) const {
  return coded * (links > 0 ? links : agents) * message_bytes(d, codec);
}

}  // namespace ticopd::cuda
