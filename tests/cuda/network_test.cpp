// The CUDA network compared with the CPU's, bit by bit. Both use the CPU's gradients; maps,
// mixtures, codecs and noise have the same bits on the device, so whole runs have the same digest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "cuda/device.hpp"
#include "cuda/whole_runs.hpp"
#include "ticopd/algorithms/ticopd.hpp"

namespace ticopd::dense {
namespace {

namespace fs = std::filesystem;

class CudaNetworkRuns : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { TICOPD_NEEDS_DEVICE(); }
};

TEST_P(CudaNetworkRuns, RunsHaveTheBitsOfTheCpu) {
  const std::string name = GetParam();
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{10, 33, 12});
  for (const CodecOptions& codec : codecs_for(algorithm_info(name))) {
    SCOPED_TRACE(codec.kind);
    ticopd::Setup<float> setup{.graph = graph_for(name, erdos_renyi(10, 0.3, 7)),
                               .objective = f,
                               .codec = make_codec<float>(codec),
                               .iterations = briefly() ? 10u : 40u,
                               .watch = {.rounds = {.every = 10}}};
    expect_same_run(name, setup);
    if (codec.kind != "qsgd" && codec.kind != "identity") continue;
    SCOPED_TRACE("mini-batches");
    setup.batch = 5;
    expect_same_run(name, setup);
    const AlgorithmNeeds needs = algorithm_needs(options_of(name));
    if (needs.centre || needs.fixed_graph) continue;
    SCOPED_TRACE("links that come and go, and a noisy channel");
    setup.links = {.drop = 0.3};
    setup.channel_noise = {ChannelNoise::Kind::uniform, 1e-3};
    expect_same_run(name, setup);
  }
}

// Stops a run in round 17 on one device and resumes it on the other.
void expect_to_go_on(const std::string& name, const ticopd::Setup<float>& setup) {
  const fs::path file =
      fs::temp_directory_path() / ("ticopd_cuda_" + std::to_string(::getpid()) + ".safetensors");
  const auto cpu = algorithm<float>(name, setup.graph);
  const auto gpu = device_algorithm(name, setup.graph);
  const std::string whole = solve(cpu, setup).digest;
  for (const bool gpu_first : {true, false}) {
    fs::remove(file);
    std::atomic<bool> stop = false;
    ticopd::Setup<float> part = setup;
    part.saving.file = file;
    part.watch.stop = &stop;
    part.watch.on_round = [&](std::uint32_t round) { stop = round == 17; };
    ticopd::Setup<float> rest = setup;
    rest.saving.file = file;
    rest.saving.resume = true;
    if (gpu_first) {
      solve(gpu, on_device(part));
      EXPECT_EQ(solve(cpu, rest).digest, whole) << "begun on the device";
    } else {
      solve(cpu, part);
      EXPECT_EQ(solve(gpu, on_device(rest)).digest, whole) << "begun on the CPU";
    }
  }
  fs::remove(file);
}

ticopd::Setup<float> small(const std::string& name, const CodecOptions& codec) {
  return {.graph = graph_for(name, ring(6)),
          .objective = std::make_shared<LeastSquares<float>>(ProblemSize{6, 77, 12}),
          .codec = make_codec<float>(codec_for(name, codec)),
          .batch = 4,
          .iterations = briefly() ? 20u : 40u,
          .watch = {.rounds = {.every = 5}}};
}

TEST_P(CudaNetworkRuns, RunsResumeOnTheCpuAndBack) {
  expect_to_go_on(GetParam(), small(GetParam(), {.kind = "qsgd", .bits = 4}));
}

TEST(CudaNetwork, ResumesWithTimeVaryingLinksAndAHostCodec) {
  TICOPD_NEEDS_DEVICE();
  for (const Coding coding : {Coding::fixed, Coding::elias})
    for (const double drop : {0.0, 0.3}) {
      SCOPED_TRACE(drop);
      auto setup = small("ticopd", {.kind = "qsgd", .bits = 4, .coding = coding});
      setup.links = {.drop = drop};
      expect_to_go_on("ticopd", setup);
    }
}

// Drops every second coordinate. It is not in the codec table, so the device has no code for it.
class Halves final : public Codec<float> {
 public:
  bool encode(std::span<const float> v, const MessageId& message, Bytes& out) const override {
    return all_->encode(v, message, out);
  }
  bool decode(std::span<const std::byte> in, const MessageId& message,
              std::span<float> q) const override {
    if (!all_->decode(in, message, q)) return false;
    for (std::size_t k = 1; k < q.size(); k += 2) q[k] = 0;
    return true;
  }
  std::size_t payload_bytes(std::size_t d) const override { return all_->payload_bytes(d); }
  double paper_bits(std::size_t d) const override { return all_->paper_bits(d); }
  ErrorBound error_bound(std::size_t) const override { return {.relative = 1}; }

 private:
  std::unique_ptr<Codec<float>> all_ = make_codec<float>({});
};

TEST(CudaNetwork, RunsAUserDefinedCodecOnTheHost) {
  TICOPD_NEEDS_DEVICE();
  auto setup = small("ticopd", {});
  setup.codec = std::make_shared<Halves>();
  expect_same_run("ticopd", setup);
}

TEST(CudaNetwork, RejectsARunThatWasMadeForTheCpu) {
  TICOPD_NEEDS_DEVICE();
  const auto setup = small("ticopd", {});
  EXPECT_THROW(solve(algorithm<float>("ticopd", setup.graph), on_device(setup)), ConfigError);
}

TEST(CudaNetwork, RunsAnAlgorithmGivenAsAStruct) {
  TICOPD_NEEDS_DEVICE();
  const auto setup = small("ticopd", {.kind = "qsgd", .bits = 4});
  const TiCoPD method{.alpha = 0.05, .theta = 1, .eta = 0.1, .gamma = 0.9};
  EXPECT_EQ(solve(method, on_device(setup)).digest, solve(method, setup).digest);
}

TEST(CudaNetwork, RefusesAnAlgorithmThatIsNotTheLibrarys) {
  TICOPD_NEEDS_DEVICE();
  struct Mine : TiCoPD {};
  try {
    solve(Mine{{.alpha = 0.05, .theta = 1, .eta = 0.1}}, on_device(small("ticopd", {})));
    ADD_FAILURE() << "it ran";
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("no device code"), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CudaNetworkRuns, ::testing::ValuesIn(algorithm_names()),
                         [](const auto& name) { return name.param; });

// Rows that fill many blocks, enough rounds for graphs of many rounds, and every coding.
TEST(CudaNetwork, LongRowsAndManyRoundsHaveTheBitsOfTheCpu) {
  TICOPD_NEEDS_DEVICE();
  const auto f = std::make_shared<LeastSquares<float>>(ProblemSize{5, 8192 + 37, 2});
  for (const Coding coding : {Coding::fixed, Coding::entropy, Coding::elias}) {
    const CodecOptions codec{.kind = "qsgd", .bits = 6, .coding = coding};
    ticopd::Setup<float> setup{.graph = ring(5),
                               .objective = f,
                               .codec = make_codec<float>(codec),
                               .iterations = briefly() ? 40u : 150u,
                               .watch = {.rounds = {.every = briefly() ? 20u : 70u}}};
    const AlgorithmOptions steps{"ticopd", {{"alpha", 1e-5}, {"theta", 1}, {"eta", 0.1}}, {}};
    Warnings warnings;
    const Spectrum s = spectrum(setup.graph, setup.weights);
    const Record cpu = record(make_algorithm<float>(steps, s, warnings), setup, {2, 1});
    const Record gpu =
        record(cuda::make_algorithm(steps, s, warnings, 150), on_device(setup), {1, 1});
    EXPECT_EQ(gpu.digest, cpu.digest);
    expect_same_metrics(gpu, cpu);  // these include the bits sent
  }
}

TEST(CudaNetwork, EndsWhenItsBitBudgetIsSpent) {
  TICOPD_NEEDS_DEVICE();
  const CodecOptions codec{.kind = "qsgd", .bits = 4, .coding = Coding::entropy};
  ticopd::Setup<float> setup{
      .graph = ring(5),
      .objective = std::make_shared<LeastSquares<float>>(ProblemSize{5, 33, 12}),
      .codec = make_codec<float>(codec),
      .iterations = 1000,
      .watch = {.until_bits = 6'000}};
  const Solution<float> cpu = solve(algorithm<float>("ticopd", setup.graph), setup);
  const Solution<float> gpu = solve(device_algorithm("ticopd", setup.graph), on_device(setup));
  EXPECT_EQ(gpu.rounds, cpu.rounds);
  EXPECT_EQ(gpu.digest, cpu.digest);
  EXPECT_LT(gpu.rounds, 1000u);
}

// With a step of 1e30 the norm overflows in the second round, and no round is logged before that.
TEST(CudaNetwork, DivergenceNamesTheRoundAsOnTheCpu) {
  TICOPD_NEEDS_DEVICE();
  const CodecOptions codec{.kind = "qsgd", .bits = 4};
  ticopd::Setup<float> setup{
      .graph = ring(5),
      .objective = std::make_shared<LeastSquares<float>>(ProblemSize{5, 50, 12}),
      .codec = make_codec<float>(codec),
      .iterations = 1000,
      .watch = {.only_last = true}};
  const AlgorithmOptions steps{
      "ticopd", {{"alpha", 1e37}, {"theta", 1}, {"eta", 1}, {"beta", 0.5}}, {}};
  Warnings warnings;
  const Spectrum s = spectrum(setup.graph, setup.weights);
  const auto message = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const Diverged& e) {
      return e.what();
    }
    return "";
  };
  const std::string cpu = message([&] { solve(make_algorithm<float>(steps, s, warnings), setup); });
  const std::string gpu =
      message([&] { solve(cuda::make_algorithm(steps, s, warnings, 1000), on_device(setup)); });
  ASSERT_NE(gpu, "");
  ASSERT_NE(cpu, "");
  // If several agents diverge in one round, the message may name any of them.
  const auto rest = [](const std::string& text) { return text.substr(text.find("round")); };
  EXPECT_EQ(rest(gpu), rest(cpu));
}

}  // namespace
}  // namespace ticopd::dense
