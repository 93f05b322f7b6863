#pragma once

#include "ticopd/cuda/codecs/device_codec.hpp"

namespace ticopd::cuda {

// Keeps only the first report.
__device__ inline void report(Trouble* trouble, const Message& message, std::uint32_t round) {
  if (atomicCAS(&trouble->any, 0u, 1u) != 0u) return;
  trouble->agent = message.agent;
  trouble->round = round;
  trouble->channel = message.channel % 64;
}

}  // namespace ticopd::cuda
