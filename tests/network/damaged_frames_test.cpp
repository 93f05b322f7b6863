// A frame that is damaged or belongs elsewhere is rejected by name, and no rank waits forever.
#include <gtest/gtest.h>

#include <functional>

#include "dense/problem.hpp"
#include "network/ranks.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/error.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::dense {
namespace {

using Damage = std::function<Bytes(Bytes)>;

// Passes all frames on, but damages those that rank 0 receives from one agent in one round.
class Tampering final : public Transport {
 public:
  Tampering(Transport& over, int agent, std::uint64_t round, Damage damage)
      : over_(over), agent_(agent), round_(round), damage_(std::move(damage)) {}
  int rank() const override { return over_.rank(); }
  int size() const override { return over_.size(); }
  void abandon(int exit_code, const std::string& why) override { over_.abandon(exit_code, why); }

 protected:
  void do_send(int to, std::uint32_t channel, Bytes frame) override {
    over_.send(to, channel, std::move(frame));
  }
  Arrival do_receive(int from, std::uint32_t channel, std::size_t) override {
    Bytes frame = over_.receive(from, channel);
    FrameHeader header;
    std::span<const std::byte> body;
    const bool meant = parse_frame(frame, header, body) && header.round == round_ &&
                       header.agent == static_cast<std::uint32_t>(agent_);
    return {meant && rank() == 0 ? damage_(std::move(frame)) : frame, 0.0};
  }

 private:
  Transport& over_;
  int agent_;
  std::uint64_t round_;
  Damage damage_;
};

// Makes a valid frame with another header or body.
Damage remade(std::function<void(FrameHeader&, Bytes&)> change) {
  return [change](const Bytes& frame) {
    FrameHeader header;
    std::span<const std::byte> body;
    EXPECT_TRUE(parse_frame(frame, header, body));
    Bytes other(body.begin(), body.end());
    change(header, other);
    return make_frame(header, other);
  };
}

// Ring of 6 on 3 ranks: rank 0 hosts agents 0 and 1 and receives from agents 2 and 5.
template <class Algorithm>
std::vector<std::exception_ptr> errors_of(const Algorithm& params, const Damage& damage) {
  const Graph graph = ring(6);
  const LeastSquares<float> f(ProblemSize{6, 40, 3});
  CodecOptions options;
  options.kind = "qsgd";
  const auto codec = make_codec<float>(options);
  ThreadRanks all(3, 60);
  return on_every_rank(all, 3, [&](Transport& t) {
    Tampering tampering(t, 5, 3, damage);
    Pool pool(2);
    CpuNetwork<float> net(
        {.graph = graph, .objective = f, .codec = *codec, .transport = tampering, .pool = pool});
    typename Algorithm::template Run<CpuNetwork<float>> run(params, net);
    for (std::uint32_t round = 1; round <= 6; ++round) {
      net.begin_round(round);
      run.step();
    }
  });
}

const TiCoPD ticopd{.alpha = 0.01, .theta = 1, .eta = 0.1, .beta = 0.9};

void expect_refused(const Damage& damage, const std::string& also = "") {
  const auto errors = errors_of(ticopd, damage);
  const std::string text = message_of(errors[0]);
  EXPECT_TRUE(is<FormatError>(errors[0])) << text;
  EXPECT_NE(text.find("agent 5, round 3, channel 0"), std::string::npos) << text;
  EXPECT_NE(text.find(also), std::string::npos) << text;
  for (const std::size_t r : {1, 2})  // a rank that was ahead may have finished its part
    EXPECT_TRUE(is<Interrupted>(errors[r])) << message_of(errors[r]);
}

TEST(DamagedFrame, IntactFramesAreAccepted) {
  for (const auto& error : errors_of(ticopd, [](Bytes b) { return b; }))
    EXPECT_FALSE(error) << message_of(error);
  for (const auto& error : errors_of(ticopd, remade([](FrameHeader&, Bytes&) {})))
    EXPECT_FALSE(error) << message_of(error);
}

TEST(DamagedFrame, BitFlipIsRejected) {
  for (const std::size_t at : {0u, 5u, 6u, 8u, 17u, 33u, 41u, 50u, 56u, 60u, 90u})
    expect_refused([at](Bytes b) {
      b.at(at) ^= std::byte{4};
      return b;
    });
}

TEST(DamagedFrame, WrongLengthIsRejected) {
  for (const std::size_t length : {0u, 1u, 55u, 56u, 70u, 1000u})
    expect_refused([length](Bytes b) {
      b.resize(length);
      return b;
    });
}

TEST(DamagedFrame, AnotherRoundAgentOrChannelIsRejectedAndNamed) {
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.round = 2; }),
                 "came instead: agent 5, round 2, channel 0");
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.agent = 2; }),
                 "came instead: agent 2, round 3, channel 0");
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.channel = 1; }),
                 "came instead: agent 5, round 3, channel 1");
}

TEST(DamagedFrame, AnotherTypePrecisionOrSizeIsRejected) {
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.type = FrameType::raw; }));
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.type = FrameType::skip; }));
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.scalar_bytes = 8; }));
  expect_refused(remade([](FrameHeader& h, Bytes&) { h.d = 41; }));
  expect_refused(remade([](FrameHeader&, Bytes& body) { body.pop_back(); }), "codec");
}

// A sender with different arithmetic sends valid frames. Only the hash of its surrogate reveals it.
TEST(DamagedFrame, FrameThatLeadsToAnotherSurrogateIsRejected) {
  expect_refused(remade([](FrameHeader&, Bytes& body) { body[0] ^= std::byte{1}; }), "surrogate");
  expect_refused(remade([](FrameHeader& h, Bytes&) { ++h.surrogate; }), "surrogate");
}

// BEER receives its second mirror one round later. The message must still name the round in which
// the frame was sent.
TEST(DamagedFrame, MessageNamesTheSecondChannel) {
  const auto errors = errors_of(BEER{.eta = 0.001, .gamma = 0.2}, [](Bytes b) {
    FrameHeader header;
    std::span<const std::byte> body;
    EXPECT_TRUE(parse_frame(b, header, body));
    if (header.channel == 1) b.pop_back();
    return b;
  });
  EXPECT_TRUE(is<FormatError>(errors[0]));
  EXPECT_NE(message_of(errors[0]).find("agent 5, round 3, channel 1"), std::string::npos)
      << message_of(errors[0]);
}

}  // namespace
}  // namespace ticopd::dense
