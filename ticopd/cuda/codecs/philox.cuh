#pragma once

#include <cstdint>

#include "ticopd/cuda/codecs/device_codec.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd::cuda {

// Philox4x32-10 of Random123, as docs/wire_format.md specifies it.
__device__ __forceinline__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
  for (int i = 0; i < 10; ++i) {
    const std::uint32_t high0 = __umulhi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
    const std::uint32_t high1 = __umulhi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
    c = {high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0};
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return c;
}

// A message id: ticopd::Noise on the device.
struct DeviceNoise {
  std::uint64_t seed;
  std::uint32_t round, agent, channel;

  __device__ DeviceNoise(const Exchange& e, const Message& message, std::uint32_t now)
      : seed(e.seed), round(now), agent(message.agent), channel(message.channel) {}

  // The draws of coordinates 4 index ... 4 index + 3.
  __device__ uint4 block(std::uint32_t index, std::uint32_t stream = 0) const {
    return philox({index, round, agent, channel | stream},
                  {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  }
};

// The noise that ChannelNoise::add adds to four coordinates. Uniform noise has the CPU's bits.
// Gaussian noise uses this device's logarithm and cosine, so it is equal up to rounding.
__device__ inline float4 channel_noise(const Exchange& e, const DeviceNoise& name,
                                       std::uint32_t index) {
  const uint4 words = name.block(index, stream_channel);
  if (e.noise_kind == static_cast<std::uint32_t>(ChannelNoise::Kind::uniform)) {
    const auto draw = [&](std::uint32_t word) {
      const double u = 2.0 * static_cast<double>(Noise::to_uniform(word)) - 1.0;
      return static_cast<float>(e.noise_scale * u);
    };
    return {draw(words.x), draw(words.y), draw(words.z), draw(words.w)};
  }
  const auto pair = [&](std::uint32_t a, std::uint32_t b) {  // Box-Muller
    const double u = (static_cast<double>(a) + 0.5) * 0x1p-32;
    const double angle = 2.0 * 3.14159265358979323846 * (static_cast<double>(b) * 0x1p-32);
    const double radius = sqrt(-2.0 * log(u));
    return make_float2(static_cast<float>(e.noise_scale * (radius * cos(angle))),
                       static_cast<float>(e.noise_scale * (radius * sin(angle))));
  };
  const float2 low = pair(words.x, words.y), high = pair(words.z, words.w);
  return {low.x, low.y, high.x, high.y};
}

}  // namespace ticopd::cuda
