#pragma once

#include "ticopd/cuda/fused/product.cuh"

// X^T.dH. A thread block has 128 pixel ranks at a time, 64 per warp group, and some chunks of an
// agent's samples.
namespace ticopd::cuda::fused::backward {

using Stage = Stages<tile_ranks>;

// Offsets in shared memory.
inline constexpr int image_offset = Stage::bytes;  // of a partial dW1
inline constexpr int shared_bytes = image_offset + w1_partial * sizeof(float);

// Waits until forward has done all of an agent's samples. A whole warp calls it. Half a minute is
// no wait but a hang: two such kernels at once, of processes that share the device by MPS.
class Dependence {
 public:
  __device__ __forceinline__ void wait(const Data& data, const Work& work, int agent) {
    if (agent == agent_) return;
    agent_ = agent;
    const auto groups = static_cast<std::uint32_t>(data.w2_slots[agent].count);
    for (std::uint32_t tries = 0; load_acquire(work.done + agent) < groups; tries++) {
      if (tries == 1u << 25) __trap();
      __nanosleep(64);
    }
  }

 private:
  int agent_ = -1;
};

// The chunks of a piece in falling order of their scale. Equal scales are then neighbours, and the
// integer sums are folded into floats less often.
struct ChunkOrder {
  float key;  // of chunk `lane`
  int position;
  __device__ __forceinline__ ChunkOrder(const float* scale, int count, int lane)
      : key(lane < count ? __ldcg(scale + lane) : 0.f), position(0) {
    for (int j = 0; j < count; j++) {
      const float other = __shfl_sync(~0u, key, j);
      position += other > key || (other == key && j < lane);
    }
    if (lane >= count) position = lane;
  }
  __device__ __forceinline__ int chunk(int at) const {
    return __ffs(__ballot_sync(~0u, position == at)) - 1;
  }
  __device__ __forceinline__ float scale(int at) const { return __shfl_sync(~0u, key, chunk(at)); }
};

// The work of the warp that fills the stages.
__device__ __forceinline__ void produce(const Data& data, const Work& work, const Self& self,
                                        const Ring& ring, int begin, int end, Place& place) {
  const std::uint64_t policy = evict_first();
  Dependence forward;
  for (int p = begin; p < end; p++) {
    const int first = data.backward[p].first, count = data.backward[p].count;
    const std::uint8_t* a =
        data.backward_image + static_cast<std::size_t>(data.backward[p].image) * backward_a;
    const std::uint8_t* b = work.dh_digits + static_cast<std::size_t>(first) * b_bytes;
    forward.wait(data, work, data.backward[p].agent);
    fence_async();  // bulk copies read what those of other blocks wrote
    const ChunkOrder order(work.dh_scale + first, count, self.lane);
    float scale = order.scale(0);
    for (int i = 0; i < count; i++, place.next()) {
      const auto c = static_cast<std::size_t>(order.chunk(i));
      const float next = i + 1 < count ? order.scale(i + 1) : 0.f;  // 0 is no chunk's scale
      if (self.lane == 0) {
        ring.begin_fill(place, Stage::stage_bytes, {scale, next});
        // X is read once, and should be the first to leave the L2 cache.
        bulk_load(Stage::a(self, place), a + c * backward_a, backward_a, ring.filled(place),
                  policy);
        bulk_load(Stage::b(self, place), b + c * b_bytes, b_bytes, ring.filled(place));
      }
      __syncwarp();
      scale = next;
    }
  }
}

struct Sums {
  float of[2][25];  // ranks r, r + 8; units of this quad lane
};

// X^T.dH of one piece. The note of a chunk has its scale and that of the next chunk. Runs of chunks
// with one scale have exact int32 sums, which are then folded.
__device__ __forceinline__ void multiply(const Self& self, const Ring& ring, Place& place,
                                         Sums& sums) {
  const auto release = [&](int stage) {
    if (self.lane == 0) barrier_arrive(ring.empty + 8 * stage, ring_releases / 8);
  };
#pragma unroll
  for (int u = 0; u < 25; u++) sums.of[0][u] = sums.of[1][u] = 0;
  float2 scales;
  do {
    Accumulator products;
    products.clear();
    int previous = -1;
    do {
      ring.wait_full(place);
      scales = ring.note(place);
      products.add(Stage::a(self, place) + self.group * 64 * chunk, Stage::b(self, place));
      if (previous >= 0) {
        wgmma_wait<1>();
        release(previous);
      }
      previous = place.stage;
      place.next();
    } while (scales.y == scales.x);
    wgmma_wait<0>();
    release(previous);
#pragma unroll
    for (int u = 0; u < 25; u++)
#pragma unroll
      for (int half = 0; half < 2; half++)
        sums.of[half][u] = fmaf(scales.x, products.value(u, half), sums.of[half][u]);
  } while (scales.y != 0);
}

// The sums leave through shared memory, as one bulk store per group: stores straight from the
// registers took longer than all the products.
__device__ __forceinline__ void store(int slot, const Work& work, const Self& self,
                                      const Sums& sums) {
  const int mine = self.group * group_partial;
  float* out = reinterpret_cast<float*>(self.memory + image_offset) + mine +
               self.t * partial_stride + (self.warp & 3) * 16 + self.r;
  if (self.leads_group()) bulk_stores_have_read();
  group_sync(self.group);
#pragma unroll
  for (int u = 0; u < 25; u++) {
    out[4 * u * partial_stride] = sums.of[0][u];
    out[4 * u * partial_stride + 8] = sums.of[1][u];
  }
  fence_async_shared();
  group_sync(self.group);
  if (self.leads_group())
    bulk_store(work.w1_partials + static_cast<std::size_t>(slot) * w1_partial + mine,
               self.base + image_offset + mine * sizeof(float), group_partial * sizeof(float));
}

// The work of the warp groups that multiply.
__device__ __forceinline__ void consume(const Data& data, const Work& work, const Self& self,
                                        const Ring& ring, int begin, int end, Place& place) {
  for (int p = begin; p < end; p++) {
    Sums sums;
    multiply(self, ring, place, sums);
    store(data.backward[p].slot, work, self, sums);
  }
  if (self.leads_group()) bulk_stores_are_done();
}

}  // namespace ticopd::cuda::fused::backward
