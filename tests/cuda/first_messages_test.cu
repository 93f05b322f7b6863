// The first messages of a whole run, on the device and on the CPU, compared byte by byte.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "cuda/device.hpp"
#include "cuda/prepared.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::cuda {
namespace {

using Messages = std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes>;  // by round and agent

// Wraps a codec and records the payloads that it makes.
class Overheard final : public Codec<float> {
 public:
  explicit Overheard(std::shared_ptr<const Codec<float>> codec) : codec_(std::move(codec)) {}

  bool encode(std::span<const float> v, const MessageId& message, Bytes& out) const override {
    if (!codec_->encode(v, message, out)) return false;
    const std::lock_guard lock(mutex_);  // threads share the agents
    messages_[{message.round, message.agent}] = out;
    return true;
  }
  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<float> q) const override {
    return codec_->decode(in, message, q);
  }
  std::size_t payload_bytes(std::size_t d) const override { return codec_->payload_bytes(d); }
  double paper_bits(std::size_t d) const override { return codec_->paper_bits(d); }
  ErrorBound error_bound(std::size_t d) const override { return codec_->error_bound(d); }

  const Messages& messages() const { return messages_; }

 private:
  std::shared_ptr<const Codec<float>> codec_;
  mutable std::mutex mutex_;
  mutable Messages messages_;
};

Messages sent_on_cpu(std::uint32_t rounds) {
  Prepared<float> p = prepared(rounds, Device::cpu);
  const auto codec = std::make_shared<Overheard>(p.setup.codec);
  p.setup.codec = codec;
  solve(p.algorithm, p.setup);
  return codec->messages();
}

// Uses the same step sizes as the config.
Messages sent_on_device(std::uint32_t rounds, bool host_gradient) {
  Prepared<float> p = prepared(rounds, Device::cuda);
  p.setup.execution.cuda.host_gradient = host_gradient;
  PreparedNetwork made(p);
  CudaNetwork& net = made.net;
  const TiCoPD steps{.alpha = 0.3, .theta = 0.3333, .eta = 0.0333, .beta = 0.6};
  TiCoPD::Run<CudaNetwork> run(steps, net);
  Messages sent;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    net.begin_round(round);
    run.step();
    net.finish();
    const auto& messages = run.xhat.routes().messages();
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const int agent = net.placement().agent(messages[m].row);
      sent[{round, static_cast<std::uint32_t>(agent)}] = run.xhat.codec()->payload(m);
    }
  }
  return sent;
}

void expect_same(const Messages& gpu, const Messages& cpu, std::size_t count) {
  EXPECT_EQ(cpu.size(), count);
  ASSERT_EQ(gpu.size(), cpu.size());
  for (const auto& [name, payload] : cpu) {
    ASSERT_TRUE(gpu.contains(name));
    EXPECT_TRUE(gpu.at(name) == payload) << "round " << name.first << ", agent " << name.second;
  }
}

// In round 1 every agent sends ENC(x^0 - xhat^0), which contains no gradient: x^0 is the common
// start and xhat^0 is zero. Later messages contain gradients, and their last bits differ on the
// device.
TEST(FirstMessages, FirstRoundHasTheBytesOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  expect_same(sent_on_device(1, false), sent_on_cpu(1), 10);
}

// Only the gradients make later messages differ: with the CPU's gradients all bytes are equal.
TEST(FirstMessages, LaterRoundsWithCpuGradientsHaveTheBytesOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  expect_same(sent_on_device(4, true), sent_on_cpu(4), 40);
}

}  // namespace
}  // namespace ticopd::cuda
