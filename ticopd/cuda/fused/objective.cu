#include <algorithm>

#include "ticopd/cuda/fused/kernels.cuh"
#include "ticopd/cuda/gradients/objective.hpp"

namespace ticopd::cuda {
namespace {

using namespace fused;

// The current device's multiprocessors if it has the instructions (9.0 and no other), else 0.
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

// How many clusters of the products' kernel the device can run at once. They must all run at once,
// because its blocks wait for each other.
int clusters_at_once() {
  if (multiprocessors() == 0) return 0;
  check(
      cudaFuncSetAttribute(products, cudaFuncAttributeMaxDynamicSharedMemorySize, products_shared),
      "shared memory of the fused gradient");
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(cluster_blocks);
  config.blockDim = dim3(product_threads);
  config.dynamicSmemBytes = products_shared;
  int clusters = 0;
  check(cudaOccupancyMaxActiveClusters(&clusters, products, &config), "clusters of the device");
  return clusters;
}

// The bytes that the class below allocates.
std::size_t device_bytes(const Counts& n, std::size_t features) {
  const std::size_t ranks = n.agents * (max_ranks + features) * sizeof(std::int16_t);
  const std::size_t tables = n.tiles * (sizeof(ForwardTile) + tile_samples) +
                             n.w1_partials * sizeof(BackwardPiece) +
                             (n.w1_partials + n.w2_partials + 2) * sizeof(std::int32_t) +
                             n.agents * ((max_rank_tiles + 1) * sizeof(Slots) + sizeof(float));
  const std::size_t images = n.forward_chunks * forward_a + n.backward_chunks * backward_a;
  const std::size_t digits = (n.agents * n.chunks + cluster_blocks * n.tiles) * b_bytes;
  const std::size_t floats =
      n.w1_partials * w1_partial + n.w2_partials * w2_partial + cluster_blocks * n.tiles;
  return ranks + tables + images + digits + floats * sizeof(float) +
         n.agents * (sizeof(AgentParameters) + sizeof(std::uint32_t));
}

// Owns the memory of the fused kernels, and records their launches.
class FusedGradient : public FullGradient {
 public:
  FusedGradient(const Problem& problem, const PixelLayout& layout)
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
        dh_digits_(cluster_blocks * layout.counts.tiles * b_bytes),
        dh_scale_(cluster_blocks * layout.counts.tiles),
        w1_partials_(layout.counts.w1_partials * w1_partial),
        w2_partials_(layout.counts.w2_partials * w2_partial),
        done_(layout.counts.agents),
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
             static_cast<std::int32_t>(layout.counts.chunks),
             lists(layout.forward_begin),
             lists(layout.backward_begin)};
    work_ = {parameters_.data(),  w1_digits_.data(),   dh_digits_.data(), dh_scale_.data(),
             w1_partials_.data(), w2_partials_.data(), done_.data()};
    const auto by_agent =
        static_cast<unsigned>(layout.counts.agents * blocks_per_agent(data_.hidden));
    prepare_ = {dim3(by_agent), dim3(prepare_threads), 0, true};
    const int clusters =
        std::max(data_.forward_lists, (data_.backward_lists + cluster_blocks - 1) / cluster_blocks);
    products_ = {dim3(static_cast<unsigned>(cluster_blocks * clusters)), dim3(product_threads),
                 products_shared, true};
    gather_ = {
        dim3(static_cast<unsigned>(layout.counts.agents * gather_blocks_per_agent(data_.hidden))),
        dim3(gather_threads), 0, true};
  }

  std::string_view name() const override { return "fused int8 digits"; }

  void gradient(Queue& queue, Rows x, Rows g) override {
    queue.launch(fused::prepare, prepare_, data_, work_, x);
    queue.room_aside();  // behind the products' blocks, which fill the device until the first ends
    queue.launch(fused::products, products_, data_, work_);
    queue.launch(fused::gather, gather_, data_, work_, x, g, l2_);
  }

 private:
  static std::int32_t lists(const std::vector<std::int32_t>& begin) {
    return static_cast<std::int32_t>(begin.size()) - 1;
  }

  // The layout, see there.
  Buffer<ForwardTile> forward_;
  Buffer<BackwardPiece> backward_;
  Buffer<std::int32_t> forward_begin_, backward_begin_;
  Buffer<std::int16_t> pixel_of_, rank_of_;
  Buffer<Slots> w1_slots_, w2_slots_;
  Buffer<std::uint8_t> forward_image_, backward_image_, labels_;
  Buffer<float> scale_;
  // Data that the kernels pass to each other. It starts as zeros, and some of it must stay zero.
  Buffer<AgentParameters> parameters_;
  Buffer<std::uint8_t> w1_digits_, dh_digits_;
  Buffer<float> dh_scale_, w1_partials_, w2_partials_;
  Buffer<std::uint32_t> done_;

  Data data_{};
  Work work_{};
  Grid prepare_, products_, gather_;
  float l2_;
};

}  // namespace

std::unique_ptr<FullGradient> make_fused_gradient(const Problem& problem) {
  const int clusters = fits(problem) ? clusters_at_once() : 0;
  if (clusters == 0) return nullptr;
  return std::make_unique<FusedGradient>(problem,
                                         make_pixel_layout(problem, cluster_blocks * clusters));
}

std::size_t fused_gradient_bytes(const Problem& problem) {
  const int blocks = multiprocessors();
  if (blocks == 0 || !fits(problem)) return 0;
  return device_bytes(counts_at_most(problem, blocks), problem.widths[0]);
}

}  // namespace ticopd::cuda
