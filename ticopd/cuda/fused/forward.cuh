#pragma once

#include "ticopd/cuda/fused/layer2.cuh"

// A cluster computes a tile of 128 samples: two thread blocks on neighbouring multiprocessors, with
// 64 samples each. So W1's digits come from the L2 cache once for both. In a block the two warp
// groups take turns: one multiplies the next tile while the other does the work after the product
// (layer2.cuh), which takes about twice as long.
namespace ticopd::cuda::fused::forward {

using Stage = Stages<chunk>;

// Offsets in shared memory; a group has its own image and parameters.
inline constexpr int image_offset = Stage::bytes;  // of 64 samples' digits of dH
inline constexpr int parameters_offset = image_offset + 2 * b_bytes;
inline constexpr int largest_offset = parameters_offset + 2 * shared_parameter_bytes;
inline constexpr int shared_bytes = largest_offset + 8 * sizeof(float);
static_assert(4 * w2_partial * sizeof(float) <= b_bytes);

// Called by one thread.
__device__ __forceinline__ void produce(const Data& data, const Work& work, const Self& self,
                                        const Ring& ring, int begin, int end, std::uint32_t rank,
                                        Place& place) {
  constexpr int b_part = b_bytes / cluster_blocks;
  constexpr std::uint16_t everyone = (1 << cluster_blocks) - 1;
  const std::uint64_t policy = evict_first();
  for (int w = begin; w < end; w++) {
    const int agent = data.forward[w].agent, chunks = data.forward[w].chunks;
    const std::uint8_t* a = data.forward_image +
                            static_cast<std::size_t>(data.forward[w].image) * forward_a +
                            rank * Stage::a_size;
    const std::uint8_t* b =
        work.w1_digits + static_cast<std::size_t>(agent) * data.chunks * b_bytes + rank * b_part;
    for (int c = 0; c < chunks; c++, place.next(), a += forward_a, b += b_bytes) {
      ring.begin_fill(place, Stage::stage_bytes);
      // X is read once, and should be the first to leave the L2 cache.
      bulk_load(Stage::a(self, place), a, Stage::a_size, ring.filled(place), policy);
      bulk_load_to(everyone, Stage::b(self, place) + rank * b_part, b, b_part, ring.filled(place));
    }
  }
}

__device__ __forceinline__ void multiply(int chunks, const Self& self, const Ring& ring,
                                         Place& place, Accumulator& products) {
  // A stage is free when the group that used it is done with it in both blocks.
  const auto release = [&](int stage) {
    if (self.lane < cluster_blocks) barrier_arrive_at(ring.empty + 8 * stage, self.lane);
  };
  int previous = -1;
#pragma unroll 1
  do {
    ring.wait_full(place);
    products.add(Stage::a(self, place), Stage::b(self, place));
    if (previous >= 0) {
      wgmma_wait<1>();
      release(previous);
    }
    previous = place.stage;
    place.next();
  } while (--chunks > 0);
  wgmma_wait<0>();
  release(previous);
}

// Writes the sum of the group's four warps' dW2, in their order, through the memory of its image.
__device__ __forceinline__ void flush(float* out, const Self& self, RunningW2& w2) {
  group_sync(self.group);  // its image has been stored
  float* all = reinterpret_cast<float*>(self.memory + image_offset + self.group * b_bytes);
  float* own = all + (self.warp & 3) * w2_partial;
#pragma unroll
  for (int q = 0; q < 13; q++)
#pragma unroll
    for (int k = 0; k < 2; k++) {
      own[(2 * q + k) * 32 + self.lane] = w2[q][k];
      if (self.lane < 8) own[w2_partial_8 + (2 * q + k) * 8 + self.lane] = w2[q][2 + k];
      w2[q][k] = w2[q][2 + k] = 0;
    }
  group_sync(self.group);
  const auto sum = [&](int at) {
    float4 v = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float4 w = *reinterpret_cast<const float4*>(all + k * w2_partial + at);
      v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
    }
    return v;
  };
  for (int e = 4 * (self.tid & 127); e < w2_partial; e += 4 * 128) {  // four quad lanes each
    float4 v = sum(e);
    // Adds what centring took from h: half of the class's db2, which is unit 25 of lane 0.
    const bool first = e < w2_partial_8;
    const bool is_weight = first ? e < 25 * 32 : e < w2_partial_8 + 25 * 8;
    if (is_weight) {
      const float db2 = sum(first ? 25 * 32 + (e & 28) : w2_partial_8 + 25 * 8 + (e & 4)).x;
      v.x = fmaf(0.5f, db2, v.x), v.y = fmaf(0.5f, db2, v.y);
      v.z = fmaf(0.5f, db2, v.z), v.w = fmaf(0.5f, db2, v.w);
    }
    *reinterpret_cast<float4*>(out + e) = v;
  }
  group_sync(self.group);
}

// The work of the warp groups that multiply.
__device__ __forceinline__ void consume(const Data& data, const Work& work, const Self& self,
                                        const Ring& ring, int begin, int end, std::uint32_t rank,
                                        Place& place) {
  const int own_parameters = parameters_offset + self.group * shared_parameter_bytes;
  const Parameters parameters(self, own_parameters);
  // The image of this group's 64 samples of dH digits, and where this lane's rows of stmatrix go in
  // it.
  const std::uint32_t image = self.base + image_offset + self.group * b_bytes;
  const std::uint32_t mine =
      image + self.lane * chunk + (((self.warp & 3) ^ ((self.lane >> 1) & 3)) << 4);
  float* largest = reinterpret_cast<float*>(self.memory + largest_offset) + 4 * self.group;
  RunningW2 w2;
#pragma unroll
  for (int q = 0; q < 13; q++)
#pragma unroll
    for (int k = 0; k < 4; k++) w2[q][k] = 0;

  if (self.group && begin < end) place.skip(data.forward[begin].chunks);
  int agent = -1;
  for (int w = begin + self.group; w < end; w += 2) {
    const ForwardTile tile = data.forward[w];
    const bool new_agent = tile.agent != agent;
    if (new_agent) {  // its parameters are copied during the main loop
      agent = tile.agent;
      group_sync(self.group);
      const auto* from = reinterpret_cast<const std::uint8_t*>(work.parameters + agent);
      for (int i = self.tid & 127; i < shared_parameter_bytes / 16; i += 128)
        copy16(self.base + own_parameters + 16 * i, from + 16 * i);
    }
    const int half = cluster_blocks * tile.tile + static_cast<int>(rank);  // 64 samples
    const std::uint32_t labels = *reinterpret_cast<const std::uint16_t*>(
        data.labels + half * chunk + (self.warp & 3) * 16 + 2 * self.r);
    Accumulator products;
    products.clear();
    if (w > begin) wait_for_turn(self.group);
    multiply(tile.chunks, self, ring, place, products);
    if (new_agent) {
      copies16_are_done();
      group_sync(self.group);
    }
    Hidden hidden;
    ByClass d;
    hidden_and_logits(products, parameters, self, hidden, d);
    // Not earlier: while the tensor cores have products of one group, small products of the other
    // group wait.
    if (w + 1 < end) give_turn_to(1 - self.group);
    float worst = deltas(labels, self, d);
    if (self.lane == 0) largest[self.warp & 3] = worst;
    if (self.leads_group()) bulk_stores_have_read();  // the image before has left shared memory
    group_sync(self.group);
#pragma unroll
    for (int k = 0; k < 4; k++) worst = fmaxf(worst, largest[k]);
    // |dH_ij| <= max |delta_y| (max_c W2_jc - min_c W2_jc) / 4. This gives a scale for these 64
    // samples without another maximum for every unit. It is a power of two, so that chunks often
    // share it.
    const PowerOfTwo scale(worst);
    if (self.leads_group()) work.dh_scale[half] = scale.value();
    layer2(hidden, DeltaFragments(d, scale.inverse(), self), scale.value(), parameters, mine, w2);
    fence_async_shared();
    group_sync(self.group);
    if (self.leads_group())
      bulk_store(work.dh_digits + static_cast<std::size_t>(half) * b_bytes, image, b_bytes);
    if (tile.flush >= 0) {
      if (self.leads_group()) {  // backward has all it needs of this group for the agent
        bulk_stores_are_done();
        add_release(work.done + agent, 1);
      }
      flush(work.w2_partials + static_cast<std::size_t>(tile.flush + rank) * w2_partial, self, w2);
    }
    if (w + 1 < end) place.skip(data.forward[w + 1].chunks);
  }
}

}  // namespace ticopd::cuda::fused::forward
