#include "ticopd/cuda/fused_layer2.cuh"

namespace ticopd::cuda::fused {
namespace {

__device__ __forceinline__ void produce(const Data& data, const Work& work, const Self& self) {
  const int begin = data.forward_begin[blockIdx.x], end = data.forward_begin[blockIdx.x + 1];
  const std::uint64_t policy = evict_first();
  Place place;
  for (int w = begin; w < end; w++) {
    const int agent = data.forward[w].agent, chunks = data.forward[w].chunks;
    const std::uint8_t* a =
        data.forward_image + static_cast<std::size_t>(data.forward[w].image) * a_bytes;
    const std::uint8_t* b =
        work.w1_digits + static_cast<std::size_t>(agent) * data.chunks * b_bytes;
    for (int c = 0; c < chunks; c++, place.next())
      self.fill(place, a + static_cast<std::size_t>(c) * a_bytes,
                b + static_cast<std::size_t>(c) * b_bytes, policy);
  }
}

__device__ __forceinline__ void multiply(int chunks, const Self& self, Place& place,
                                         Accumulator& products) {
  products.clear();
  int previous = -1;
  for (int c = 0; c < chunks; c++) {
    self.wait_full(place);
    products.add(self.stage(place), self.group);
    if (previous >= 0) {
      wgmma_wait<1>();
      self.release(previous);
    }
    previous = place.stage;
    place.next();
  }
  wgmma_wait<0>();
  self.release(previous);
}

// The sum of the eight warps' dW2, in their order, through the memory of the images.
__device__ __forceinline__ void flush(int slot, const Work& work, const Self& self, RunningW2& w2) {
  if (self.leads_group()) bulk_stores_have_read();
  consumer_sync();
  float* all = reinterpret_cast<float*>(self.memory + Shared::image);
  float* own = all + self.warp * w2_partial;
#pragma unroll
  for (int q = 0; q < 13; q++)
#pragma unroll
    for (int k = 0; k < 2; k++) {
      own[(2 * q + k) * 32 + self.lane] = w2[q][k];
      if (self.lane < 8) own[w2_partial_8 + (2 * q + k) * 8 + self.lane] = w2[q][2 + k];
      w2[q][k] = w2[q][2 + k] = 0;
    }
  consumer_sync();
  const auto sum = [&](int at) {
    float v = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) v += all[k * w2_partial + at];
    return v;
  };
  for (int e = self.tid; e < w2_partial; e += 256) {
    float v = sum(e);
    // What centring took from h: half of the class's db2, which is unit 25 of lane 0.
    const bool first = e < w2_partial_8;
    const bool is_weight = first ? e < 25 * 32 : e < w2_partial_8 + 25 * 8;
    if (is_weight)
      v = fmaf(0.5f, sum(first ? 25 * 32 + (e & 28) : w2_partial_8 + 25 * 8 + (e & 4)), v);
    work.w2_partials[static_cast<std::size_t>(slot) * w2_partial + e] = v;
  }
  consumer_sync();
}

}  // namespace

__global__ void __launch_bounds__(product_threads, 1) forward(Data data, Work work) {
  const Self self(Shared::forward_barriers);
  self.begin();
  if (self.produces()) {
    give_registers();
    if (self.tid == 256) produce(data, work, self);
    return;
  }
  take_registers();
  Place place;
  const Parameters parameters(self);
  // This group's 64 samples of dH digits, and where this lane's rows of stmatrix go in it.
  const std::uint32_t image = self.base + Shared::image + self.group * b_bytes;
  const std::uint32_t mine =
      image + self.lane * chunk + (((self.warp & 3) ^ ((self.lane >> 1) & 3)) << 4);
  float* largest = reinterpret_cast<float*>(self.memory + Shared::largest) + 4 * self.group;
  RunningW2 w2;
#pragma unroll
  for (int q = 0; q < 13; q++)
#pragma unroll
    for (int k = 0; k < 4; k++) w2[q][k] = 0;

  int agent = -1;
  const int begin = data.forward_begin[blockIdx.x], end = data.forward_begin[blockIdx.x + 1];
  for (int w = begin; w < end; w++) {
    const ForwardTile tile = data.forward[w];
    const bool new_agent = tile.agent != agent;
    if (new_agent) {  // its parameters travel while the main loop runs
      agent = tile.agent;
      consumer_sync();
      const auto* from = reinterpret_cast<const std::uint8_t*>(work.parameters + agent);
      for (int i = self.tid; i < shared_parameter_bytes / 16; i += 256)
        copy16(self.base + Shared::parameters + 16 * i, from + 16 * i);
    }
    const std::uint32_t labels = *reinterpret_cast<const std::uint16_t*>(
        data.labels + tile.tile * tile_rows + self.warp * 16 + 2 * self.r);
    Accumulator products;
    multiply(tile.chunks, self, place, products);
    if (new_agent) {
      copies16_are_done();
      consumer_sync();
    }
    Hidden hidden;
    ByClass d;
    hidden_and_logits(products, parameters, self, hidden, d);
    float worst = deltas(labels, self, d);
    if (self.lane == 0) largest[self.warp & 3] = worst;
    if (self.leads_group()) bulk_stores_have_read();  // the image before has left shared memory
    group_sync(self.group);
#pragma unroll
    for (int k = 0; k < 4; k++) worst = fmaxf(worst, largest[k]);
    // |dH_ij| <= max |delta_y| (max_c W2_jc - min_c W2_jc) / 4: a scale for these 64 samples
    // without another maximum for every unit. A power of two, so that chunks often share it.
    const PowerOfTwo scale(worst);
    if (self.leads_group()) work.dh_scale[2 * tile.tile + self.group] = scale.value();
    layer2(hidden, DeltaFragments(d, scale.inverse(), self), scale.value(), parameters, mine, w2);
    fence_async_shared();
    group_sync(self.group);
    if (self.leads_group())
      bulk_store(work.dh_digits + static_cast<std::size_t>(2 * tile.tile + self.group) * b_bytes,
                 image, b_bytes);
    if (tile.flush >= 0) flush(tile.flush, work, self, w2);
  }
  if (self.leads_group()) bulk_stores_are_done();
}

}  // namespace ticopd::cuda::fused
