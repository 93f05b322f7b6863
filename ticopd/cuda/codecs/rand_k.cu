#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/cuda/codecs/code_length.cuh"
#include "ticopd/cuda/codecs/codecs.hpp"
#include "ticopd/cuda/codecs/measure.cuh"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::cuda {
namespace {

// The subset of a message of d coordinates.
__device__ Permutation subset_of(std::uint64_t d, const DeviceNoise& name) {
  const uint4 keys = name.block(0, stream_subset), turn = name.block(1, stream_subset);
  return {d, {keys.x, keys.y, keys.z, keys.w}, {turn.x, turn.y, turn.z, turn.w}};
}

// The drawn values of all messages of an exchange.
struct Subset {
  MessageState* states;
  float* values;  // by message, in the order of the permutation
  std::uint64_t stride;
  double paper_bits;
  std::uint32_t k;
  std::uint32_t tiles;
  float scale;                  // of the decoded values
  std::uint32_t values_follow;  // another codec sends them, and counts the message
};

// Gathers the drawn values of every message.
__global__ void __launch_bounds__(block_threads) take_subset(Round round, Exchange e, Subset to) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, i = tile.index * block_threads + threadIdx.x;
  if (to.states[m].verdict != travels || i >= to.k) return;
  const Message message = e.messages[m];
  const Permutation subset = subset_of(e.d, DeviceNoise(e, message, round.number()));
  const auto k = static_cast<std::uint32_t>(subset(i));
  to.values[m * to.stride + i] = InputRow(e, Input{}, message, m).at(k);
  if (i == 0 && to.values_follow == 0) count_message(e, m, 4 * std::uint64_t{to.k}, to.paper_bits);
}

// A value multiplied by d / k may become infinite: the message is then refused. One thread block
// per message.
__global__ void __launch_bounds__(block_threads) check_scaled(Round round, Exchange e, Subset to) {
  wait_for_kernel_before();
  const std::uint32_t m = blockIdx.x;
  if (to.states[m].verdict != travels) return;
  bool bad = false;
  for (std::uint32_t i = threadIdx.x; i < to.k; i += block_threads)
    bad = bad || !(fabsf(__fmul_rn(to.values[m * to.stride + i], to.scale)) <= FLT_MAX);
  if (__syncthreads_or(bad) == 0 || threadIdx.x != 0) return;
  to.states[m].bad = 1;
  settle(e, m, to.states[m], false, round.number());
}

// Scatters and applies the decoded values. The inverse permutation tells which value a coordinate
// gets.
template <bool noisy>
__global__ void __launch_bounds__(block_threads) give_subset(Round round, Exchange e, Subset to) {
  wait_for_kernel_before();
  const Tile tile(to.tiles);
  const std::uint32_t m = tile.message, verdict = to.states[m].verdict;
  const Message message = e.messages[m];
  const DeviceNoise name(e, message, round.number());
  const auto d = static_cast<std::uint32_t>(e.d);
  const std::uint32_t k = 4 * (tile.index * block_threads + threadIdx.x);
  const std::uint32_t count = count_of_four(k, d);
  float q[4], h[4];
  load_four(e.h.row(message.slot), k, count, h);
  if (verdict == stays) stay_four(e, message, k, count, h);
  if (verdict != travels) return;
  const Permutation subset = subset_of(d, name);
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j) {
    const auto i = static_cast<std::uint32_t>(j < count ? subset.inverse(k + j) : d);
    const float value = i < to.k ? to.values[m * to.stride + i] : 0.0f;
    q[j] = i < to.k && to.scale != 1.0f ? __fmul_rn(value, to.scale) : value;
  }
  apply_four<noisy>(e, message, name, k, count, q, h);
}

class RandK final : public DeviceCodec {
 public:
  RandK(const CodecOptions& options, std::size_t d, std::size_t k, std::size_t messages,
        std::unique_ptr<RowQuantiser> inner)
      : d_(d),
        k_(k),
        inner_(std::move(inner)),
        unbiased_(options.unbiased),
        stride_(padded(k)),
        states_(messages),
        finite_(d, messages),
        values_(messages * stride_) {
    tally_.all = make_codec<float>(options)->paper_bits(d);
  }

  void exchange(Queue& queue, const Exchange& e) override {
    finite_.record(queue, e, states_.data());
    Subset to{.states = states_.data(),
              .values = values_.data(),
              .stride = stride_,
              .paper_bits = tally_.all,
              .k = static_cast<std::uint32_t>(k_),
              .tiles = tiles_of(k_, block_threads),
              .scale = unbiased_ ? static_cast<float>(d_) / static_cast<float>(k_) : 1.0f,
              .values_follow = inner_ ? 1u : 0u};
    queue.launch(take_subset, grid_of(to.tiles, e), ThisRound{}, e, to);
    if (inner_)
      inner_->record(queue, e, {.kept = values_.data(), .stride = stride_, .length = k_},
                     states_.data(), tally_);
    if (unbiased_) queue.launch(check_scaled, grid_of(1, e), ThisRound{}, e, to);
    to.tiles = tiles_of(d_, block_coordinates);
    queue.launch(is_noisy(e) ? give_subset<true> : give_subset<false>, grid_of(to.tiles, e),
                 ThisRound{}, e, to);
  }

  Bytes payload(std::size_t message) const override {
    return inner_ ? inner_->payload(message, k_)
                  : download(values_.data() + message * stride_, k_ * sizeof(float));
  }

 private:
  std::size_t d_, k_;
  std::unique_ptr<RowQuantiser> inner_;  // null: values are sent unchanged
  bool unbiased_;
  std::uint64_t stride_;
  Buffer<MessageState> states_;
  FiniteRows finite_;
  Buffer<float> values_;
  Tally tally_;
};

}  // namespace

MadeCodec make_rand_k(const CodecOptions& options, std::size_t d, std::size_t messages) {
  const std::size_t k = SubsetSize(options).of(d);
  std::unique_ptr<RowQuantiser> inner;
  if (!options.then.empty()) {
    CodecOptions of_values = options;
    of_values.kind = options.then;
    inner = make_row_quantiser(of_values, k, messages);
    if (!inner) return nullptr;
  }
  return std::make_unique<RandK>(options, d, k, messages, std::move(inner));
}

}  // namespace ticopd::cuda
