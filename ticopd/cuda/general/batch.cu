// Mini-batches, drawn on the device: a recorded draw gives new samples in every round.
#include <Random123/philox.h>

#include "ticopd/cuda/general/data.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::cuda::general {
namespace {

// The order in which an agent's samples are drawn in a round, as in CpuNetwork::batch_of.
__device__ Permutation draw_of(std::uint64_t count, std::uint64_t seed, std::uint32_t round,
                               std::uint32_t agent) {
  const r123::Philox4x32::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const auto block = [&](std::uint32_t index) -> Noise::Block {
    const auto r = r123::Philox4x32{}({{index, round, agent, stream_batch}}, key);
    return {r.v[0], r.v[1], r.v[2], r.v[3]};
  };
  return {count, block(0), block(1)};
}

struct DrawArgs {
  const uint4* from;  // rows in units of 16 bytes
  uint4* to;
  const double* labels_from;
  double* labels_to;
  const std::uint32_t* counts;
  const std::uint32_t* agents;
  std::uint64_t seed;
  std::uint32_t row_units, batch;
  std::uint32_t samples_from, samples_to;
};

// One thread block per sample and slot.
__global__ void draw_samples(DrawArgs args, Round round) {
  const std::uint32_t b = blockIdx.x, slot = blockIdx.y, count = args.counts[slot];
  if (b >= count) return;  // the batch is larger than the shard: the rest stays padding
  __shared__ std::uint32_t drawn;
  if (threadIdx.x == 0) {
    drawn = b;
    if (args.batch < count)
      drawn = static_cast<std::uint32_t>(
          draw_of(count, args.seed, round.number(), args.agents[slot])(b));
  }
  __syncthreads();
  const std::size_t from = static_cast<std::size_t>(slot) * args.samples_from + drawn;
  const std::size_t to = static_cast<std::size_t>(slot) * args.samples_to + b;
  for (std::uint32_t i = threadIdx.x; i < args.row_units; i += blockDim.x)
    args.to[to * args.row_units + i] = args.from[from * args.row_units + i];
  if (threadIdx.x == 0) args.labels_to[to] = args.labels_from[from];
}

constexpr std::uint32_t tile = 64;

struct TurnArgs {
  const std::int8_t* from;
  std::int8_t* to;
  std::uint32_t samples, features;
};

// Transposes tiles of 64 x 64 bytes; both sides are multiples of 16 bytes. Each of 256 threads
// reads one vector and writes one.
__global__ void turn_tiles(TurnArgs args) {
  __shared__ std::int8_t bytes[tile][tile + 4];
  const std::uint32_t along = threadIdx.x / 4, part = threadIdx.x % 4 * 16;
  const std::size_t slot = static_cast<std::size_t>(blockIdx.z) * args.samples * args.features;
  const std::uint32_t s0 = blockIdx.x * tile, f0 = blockIdx.y * tile;
  if (s0 + along < args.samples && f0 + part < args.features) {
    const uint4 v = *reinterpret_cast<const uint4*>(
        args.from + slot + static_cast<std::size_t>(s0 + along) * args.features + f0 + part);
    auto* row = reinterpret_cast<std::uint32_t*>(&bytes[along][part]);
    row[0] = v.x, row[1] = v.y, row[2] = v.z, row[3] = v.w;
  }
  __syncthreads();
  if (f0 + along < args.features && s0 + part < args.samples) {
    std::uint32_t words[4];
#pragma unroll
    for (std::uint32_t w = 0; w < 4; ++w) {
      words[w] = 0;
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i)
        words[w] |=
            static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[part + 4 * w + i][along]))
            << (8 * i);
    }
    *reinterpret_cast<uint4*>(args.to + slot + static_cast<std::size_t>(f0 + along) * args.samples +
                              s0 + part) = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

unsigned tiles_of(std::size_t count) {
  return static_cast<unsigned>((count + tile - 1) / tile);
}

}  // namespace

void record_turn(Queue& queue, DeviceSamples& samples) {
  const SampleLayout& of = samples.layout;
  queue.launch(
      turn_tiles,
      Grid{dim3(tiles_of(of.samples), tiles_of(of.features), static_cast<unsigned>(of.slots)),
           dim3(256)},
      TurnArgs{samples.pixels.data(), samples.turned.data(), static_cast<std::uint32_t>(of.samples),
               static_cast<std::uint32_t>(of.features)});
}

void record_draw(Queue& queue, const DeviceSamples& from, DeviceSamples& to,
                 const std::uint32_t* agents, std::uint64_t seed, std::size_t batch) {
  const bool in_base256 = from.pixels.size() > 0;
  const std::size_t row_bytes = from.layout.features * (in_base256 ? 1 : sizeof(float));
  void* rows = in_base256 ? static_cast<void*>(to.pixels.data()) : to.values.data();
  const std::size_t most = std::min(batch, from.layout.samples);
  queue.launch(
      draw_samples,
      Grid{dim3(static_cast<unsigned>(most), static_cast<unsigned>(from.layout.slots)), dim3(64)},
      DrawArgs{static_cast<const uint4*>(from.rows()), static_cast<uint4*>(rows),
               from.labels.data(), to.labels.data(), from.counts.data(), agents, seed,
               static_cast<std::uint32_t>(row_bytes / 16), static_cast<std::uint32_t>(most),
               static_cast<std::uint32_t>(from.layout.samples),
               static_cast<std::uint32_t>(to.layout.samples)},
      ThisRound{});
  if (in_base256) record_turn(queue, to);
}

}  // namespace ticopd::cuda::general
