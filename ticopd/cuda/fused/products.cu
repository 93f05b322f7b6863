#include "ticopd/cuda/fused/backward.cuh"
#include "ticopd/cuda/fused/forward.cuh"

namespace ticopd::cuda::fused {
namespace {

constexpr int barriers_offset = std::max(forward::shared_bytes, backward::shared_bytes);
static_assert(products_shared == barriers_offset + Ring::bytes + shared_slack);
static_assert(products_shared <= 227 * 1024 && barriers_offset % 8 == 0);

// The part of a work list that belongs to cluster or block i.
struct Range {
  int begin, end;
  __device__ __forceinline__ Range(const std::int32_t* begins, int count, int i)
      : begin(i < count ? begins[i] : 0), end(i < count ? begins[i + 1] : 0) {}
};

}  // namespace

// Both products are one kernel. A thread block goes on to backward when it has done its part of
// forward, and waits only for the blocks that work for the same agent. All blocks are on the device
// at once (objective.cu), and no other such kernel is (Queue). So the blocks that it waits for get
// there.
__global__ void __launch_bounds__(product_threads, 1) __cluster_dims__(cluster_blocks, 1, 1)
    products(Data data, Work work) {
  const Self self;
  const Ring ring(self, barriers_offset);
  if (self.tid == 0) ring.init();
  const std::uint32_t rank = cluster_rank();
  const Range tiles(data.forward_begin, data.forward_lists, blockIdx.x / cluster_blocks);
  const Range pieces(data.backward_begin, data.backward_lists, blockIdx.x);
  cluster_sync();
  wait_for_kernel_before();  // nothing that it writes was read yet
  let_next_kernel_begin();
  Place place;
  if (self.produces()) {
    give_registers();
    if (self.warp == 8) {
      if (self.lane == 0)
        forward::produce(data, work, self, ring, tiles.begin, tiles.end, rank, place);
      place.stage = __shfl_sync(~0u, place.stage, 0);
      place.phase = __shfl_sync(~0u, place.phase, 0);
      product_sync();
      backward::produce(data, work, self, ring, pieces.begin, pieces.end, place);
    }
  } else {
    take_registers();
    forward::consume(data, work, self, ring, tiles.begin, tiles.end, rank, place);
    product_sync();  // the stages of backward lie where forward had its images
    backward::consume(data, work, self, ring, pieces.begin, pieces.end, place);
  }
  cluster_sync();  // until then the other block may release stages of ours
}

}  // namespace ticopd::cuda::fused
