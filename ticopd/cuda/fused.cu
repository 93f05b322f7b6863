#include "ticopd/cuda/fused_kernels.cuh"
#include "ticopd/cuda/objective.hpp"

namespace ticopd::cuda {
namespace {

using namespace fused;

// The current device's multiprocessors, where it has the instructions: 9.0 and no other.
int multiprocessors() {
  int device = 0, major = 0, minor = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    cudaGetLastError();  // no device is no error
    return 0;
  }
  return major == 9 && minor == 0 ? count : 0;
}

// What the class below allocates.
std::size_t device_bytes(const Counts& n, std::size_t features) {
  const std::size_t ranks = n.agents * (max_ranks + features) * sizeof(std::int16_t);
  const std::size_t tables = n.tiles * (sizeof(ForwardTile) + tile_rows) +
                             n.w1_partials * sizeof(BackwardPiece) +
                             (n.w1_partials + n.w2_partials + 2) * sizeof(std::int32_t) +
                             n.agents * ((max_rank_tiles + 1) * sizeof(Slots) + sizeof(float));
  const std::size_t images = (n.forward_chunks + n.backward_chunks) * a_bytes;
  const std::size_t digits = (n.agents * n.chunks + 2 * n.tiles) * b_bytes;
  const std::size_t floats = n.w1_partials * w1_partial + n.w2_partials * w2_partial + 2 * n.tiles;
  return ranks + tables + images + digits + floats * sizeof(float) +
         n.agents * sizeof(AgentParameters);
}

class FusedGradient : public FullGradient {
 public:
  FusedGradient(const Problem& problem, const Layout& layout)
      : forward_(layout.forward),
        backward_(layout.backward),
        forward_begin_(layout.forward_begin),
        backward_begin_(layout.backward_begin),
        pixel_of_(layout.pixel_of),
        rank_of_(layout.rank_of),
        w1_slots_(layout.w1_slots),
        w2_slots_(layout.w2_slots),
        forward_image_(layout.forward_image),
        backward_image_(layout.backward_image),
        labels_(layout.labels),
        scale_(layout.scale),
        parameters_(layout.counts.agents),
        w1_digits_(layout.counts.agents * layout.counts.chunks * b_bytes),
        dh_digits_(2 * layout.counts.tiles * b_bytes),
        dh_scale_(2 * layout.counts.tiles),
        w1_partials_(layout.counts.w1_partials * w1_partial),
        w2_partials_(layout.counts.w2_partials * w2_partial),
        l2_(static_cast<float>(problem.l2)) {
    data_ = {forward_.data(),
             forward_begin_.data(),
             backward_.data(),
             backward_begin_.data(),
             pixel_of_.data(),
             rank_of_.data(),
             w1_slots_.data(),
             w2_slots_.data(),
             forward_image_.data(),
             backward_image_.data(),
             labels_.data(),
             scale_.data(),
             static_cast<std::int32_t>(problem.widths[0]),
             static_cast<std::int32_t>(problem.widths[1]),
             static_cast<std::int32_t>(problem.widths[2]),
             static_cast<std::int32_t>(layout.counts.chunks)};
    work_ = {parameters_.data(), w1_digits_.data(),   dh_digits_.data(),
             dh_scale_.data(),   w1_partials_.data(), w2_partials_.data()};
    const auto by_agent =
        static_cast<unsigned>(layout.counts.agents * blocks_per_agent(data_.hidden));
    prepare_ = {dim3(by_agent), dim3(prepare_threads), 0, true};
    forward_grid_ = {dim3(cluster_blocks * blocks(layout.forward_begin)), dim3(product_threads),
                     forward_shared, true};
    backward_grid_ = {dim3(blocks(layout.backward_begin)), dim3(product_threads), backward_shared,
                      true};
    gather_ = {
        dim3(static_cast<unsigned>(layout.counts.agents * gather_blocks_per_agent(data_.hidden))),
        dim3(gather_threads), 0, true};
    allow_shared(fused::forward, forward_shared);
    allow_shared(fused::backward, backward_shared);
  }

  std::string_view name() const override { return "fused int8 digits"; }

  void gradient(Queue& queue, Rows x, Rows g) override {
    queue.launch(fused::prepare, prepare_, data_, work_, x);
    queue.launch(fused::forward, forward_grid_, data_, work_);
    queue.room_aside();  // where the first blocks of backward end
    queue.launch(fused::backward, backward_grid_, data_, work_);
    queue.launch(fused::gather, gather_, data_, work_, x, g, l2_);
  }

 private:
  static unsigned blocks(const std::vector<std::int32_t>& begin) {
    return static_cast<unsigned>(begin.size() - 1);
  }
  static void allow_shared(void (*kernel)(Data, Work), int bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
          "shared memory of the fused gradient");
  }

  // The layout, see there.
  Buffer<ForwardTile> forward_;
  Buffer<BackwardPiece> backward_;
  Buffer<std::int32_t> forward_begin_, backward_begin_;
  Buffer<std::int16_t> pixel_of_, rank_of_;
  Buffer<Slots> w1_slots_, w2_slots_;
  Buffer<std::uint8_t> forward_image_, backward_image_, labels_;
  Buffer<float> scale_;
  // What the kernels hand on. It starts as zeros, which some of it must be for good.
  Buffer<AgentParameters> parameters_;
  Buffer<std::uint8_t> w1_digits_, dh_digits_;
  Buffer<float> dh_scale_, w1_partials_, w2_partials_;

  Data data_{};
  Work work_{};
  Grid prepare_, forward_grid_, backward_grid_, gather_;
  float l2_;
};

}  // namespace

std::unique_ptr<FullGradient> make_fused_gradient(const Problem& problem) {
  const int blocks = multiprocessors();
  if (blocks == 0 || !fits(problem)) return nullptr;
  return std::make_unique<FusedGradient>(problem, make_layout(problem, blocks));
}

std::size_t fused_gradient_bytes(const Problem& problem) {
  const int blocks = multiprocessors();
  if (blocks == 0 || !fits(problem)) return 0;
  return device_bytes(counts_at_most(problem, blocks), problem.widths[0]);
}

}  // namespace ticopd::cuda
