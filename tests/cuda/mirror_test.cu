// Between send and receive an algorithm may do the same on the device as on the CPU.
#include <gtest/gtest.h>

#include <stdexcept>

#include "cuda/device.hpp"
#include "cuda/prepared.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::cuda {
namespace {

struct Step {
  __host__ __device__ void operator()(float& x, float g, float mixed) const {
    x = x - 0.1f * g - 0.05f * mixed;
  }
};

// No method of the library takes a gradient at its own surrogate while the codec still writes it.
// A user's method may: docs/extending.md says that the surrogate is new after send.
std::vector<float> chased(const Prepared<float>& p, bool wait_first) {
  PreparedNetwork made(p);
  CudaNetwork& net = made.net;
  DeviceField x = net.start(), g = net.field();
  DeviceMirror h(net, net.laplacian(), 0);
  for (std::uint32_t round = 1; round <= (briefly() ? 2u : 20u); ++round) {
    net.begin_round(round);
    h.send(x);
    if (wait_first) h.receive();
    net.gradient(h.own(), g);
    h.receive();
    net.map(Step{}, x, g, h.mixed());
  }
  net.finish();
  Field<float> rows;
  x.download(rows);
  return {rows.row(3).begin(), rows.row(3).end()};
}

TEST(DeviceMirror, GradientAfterSendReadsTheNewSurrogate) {
  TICOPD_NEEDS_DEVICE();
  const std::vector<std::vector<std::string>> codecs{{"codec.kind=\"qsgd\"", "codec.bits=8"},
                                                     {"codec.kind=\"top_k\"", "codec.fraction=0.1"},
                                                     {"codec.kind=\"identity\""}};
  for (const std::vector<std::string>& codec : codecs) {
    SCOPED_TRACE(codec.front());
    const Prepared<float> p = prepared(20, Device::cuda, codec);
    EXPECT_TRUE(chased(p, false) == chased(p, true));
  }
}

TEST(DeviceMirror, RejectsTheSameCallsAsOnTheCpu) {
  TICOPD_NEEDS_DEVICE();
  PreparedNetwork made(prepared(2, Device::cuda));
  CudaNetwork& net = made.net;
  const DeviceField x = net.start();
  DeviceMirror h(net, net.laplacian(), 0);
  net.begin_round(1);
  h.send(x);
  EXPECT_THROW(h.send(x), std::logic_error);
  EXPECT_THROW(h.mixed(), std::logic_error);
  EXPECT_THROW(h.estimate(), std::logic_error);  // the mirror was not asked to keep an estimate
  h.receive();
  EXPECT_NO_THROW(h.mixed());
  h.start_at(x);
  EXPECT_NO_THROW(h.mixed());
  net.finish();
}

// Without the fused gradient and graphs a run would be right but slow, and no other test would
// fail.
TEST(PaperProblem, UsesTheFusedGradientAndGraphs) {
  TICOPD_NEEDS_DEVICE();
  PreparedNetwork made(prepared(40, Device::cuda));
  CudaNetwork& net = made.net;
  EXPECT_EQ(net.gradient_name(), "fused int8 digits");
  TiCoPD::Run<CudaNetwork> run({.alpha = 0.3, .theta = 0.3333, .eta = 0.0333, .beta = 0.6}, net);
  for (std::uint32_t round = 1; round <= 40; ++round) {
    net.begin_round(round);
    run.step();
  }
  net.finish();
  EXPECT_GE(net.queue().graphs(), 1u);
}

// A search makes many runs of one problem that stays on the device; some of them diverge.
TEST(PaperProblem, GivesASecondRunTheSameDigest) {
  TICOPD_NEEDS_DEVICE();
  const std::uint32_t rounds = briefly() ? 3 : 12;
  const Prepared<float> p = prepared(rounds, Device::cuda);
  const std::string first = solve(p.algorithm, p.setup).digest;
  Warnings warnings;
  const AlgorithmOptions wild{
      "ticopd", {{"alpha", 1e37}, {"theta", 1}, {"eta", 1}, {"beta", 0.5}}, {}};
  EXPECT_THROW(solve(make_algorithm(wild, p.spectrum, warnings, rounds), p.setup), Diverged);
  EXPECT_EQ(solve(p.algorithm, p.setup).digest, first);
  const Prepared<float> anew = prepared(rounds, Device::cuda);
  EXPECT_EQ(solve(anew.algorithm, anew.setup).digest, first);
}

}  // namespace
}  // namespace ticopd::cuda
