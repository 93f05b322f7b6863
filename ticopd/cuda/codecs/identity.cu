#include <cstring>

#include "ticopd/cuda/codecs/codecs.hpp"
#include "ticopd/cuda/codecs/measure.cuh"

namespace ticopd::cuda {
namespace {

// Decides for random_gossip if the row is sent; identity has p = 1 and no coin.
struct Coin {
  double p;
  std::uint64_t tossed;

  __device__ bool heads(const DeviceNoise& name) const {
    if (tossed == 0) return true;
    return static_cast<double>(Noise::to_uniform(name.block(0, stream_coin).x)) < p;
  }
};

// Sends rows and applies them.
template <bool noisy, bool lossless>
__global__ void __launch_bounds__(block_threads)
    send_rows(Round round, Exchange e, MessageState* states, Coin coin, float* payload,
              std::uint64_t payload_stride, std::uint64_t tiles) {
  wait_for_kernel_before();
  const Tile tile(static_cast<std::uint32_t>(tiles));
  const std::uint32_t m = tile.message, verdict = states[m].verdict;
  const Message message = e.messages[m];
  const DeviceNoise name(e, message, round.number());
  const std::uint32_t k = 4 * (tile.index * block_threads + threadIdx.x);
  const std::uint32_t count = count_of_four(k, static_cast<std::uint32_t>(e.d));
  float v[4], h[4];
  load_four(e.v.row(message.row), k, count, v);
  load_four(e.h.row(message.slot), k, count, h);
  if (verdict == stays) stay_four(e, message, k, count, h);
  if (verdict != travels) return;
  const bool goes = coin.heads(name);
  if (k == 0) {
    states[m].sent = goes;
    const double flag = coin.tossed != 0 ? 1.0 : 0.0;
    count_message(e, m, goes ? 4 * e.d : 0, flag + (goes ? 32.0 * static_cast<double>(e.d) : 0.0));
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    if (!lossless && e.raw == 0) v[j] = __fsub_rn(v[j], h[j]);
    if (!goes) v[j] = 0.0f;
  }
  if (payload != nullptr) store_four(payload + m * payload_stride, k, count, v);
  if (goes)
    apply_four<noisy, lossless>(e, message, name, k, count, v, h);
  else  // nothing was sent, so no channel noise
    apply_four<false, lossless>(e, message, name, k, count, v, h);
}

// identity and random_gossip. The payload of identity is the row itself, in place.
template <bool lossless>
class RowCodec final : public DeviceCodec {
 public:
  RowCodec(const CodecOptions& options, std::size_t d, std::size_t messages)
      : coin_{.p = options.p, .tossed = lossless ? 0u : 1u},
        d_(d),
        states_(messages),
        finite_(d, messages),
        payload_(lossless ? 0 : messages * padded(d)) {}

  void exchange(Queue& queue, const Exchange& e) override {
    last_ = e;
    finite_.record(queue, e, states_.data());
    const std::uint32_t tiles = tiles_of(d_, block_coordinates);
    const Grid grid = grid_of(tiles, e);
    queue.launch(is_noisy(e) ? send_rows<true, lossless> : send_rows<false, lossless>, grid,
                 ThisRound{}, e, states_.data(), coin_, payload_.data(),
                 static_cast<std::uint64_t>(padded(d_)), std::uint64_t{tiles});
  }

  Bytes payload(std::size_t message) const override {
    if constexpr (!lossless) {
      if (states_.download()[message].sent == 0) return {};
      return download(payload_.data() + message * padded(d_), d_ * sizeof(float));
    } else {
      const Bytes bytes = download(last_.messages + message, sizeof(Message));
      Message m;
      std::memcpy(&m, bytes.data(), sizeof m);
      return download(last_.v.row(m.row), d_ * sizeof(float));
    }
  }

 private:
  Coin coin_;
  std::size_t d_;
  Buffer<MessageState> states_;
  FiniteRows finite_;
  Buffer<float> payload_;
  Exchange last_{};
};

}  // namespace

std::unique_ptr<DeviceCodec> make_identity(const CodecOptions& options, std::size_t d,
                                           std::size_t messages) {
  return std::make_unique<RowCodec<true>>(options, d, messages);
}

std::unique_ptr<DeviceCodec> make_random_gossip(const CodecOptions& options, std::size_t d,
                                                std::size_t messages) {
  return std::make_unique<RowCodec<false>>(options, d, messages);
}

}  // namespace ticopd::cuda
