// The memory of a run on the device is estimated before anything is allocated.
#include "ticopd/cuda/footprint.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cuda/device.hpp"
#include "cuda/whole_runs.hpp"
#include "ticopd/algorithms/table.hpp"

namespace ticopd::cuda {
namespace {

TEST(Footprint, CountsTheFieldsAndMirrorsOfAnAlgorithm) {
  const Footprint ticopd = footprint_of(TiCoPD{});
  EXPECT_EQ(ticopd.fields, 3u);  // x, lambda, grad
  EXPECT_EQ(ticopd.surrogates, 1u);
  EXPECT_EQ(ticopd.coded, 1u);
  const Footprint lead = footprint_of(LEAD{});
  EXPECT_EQ(lead.surrogates, 2u);  // h and its estimate
  EXPECT_EQ(lead.coded, 1u);
  EXPECT_EQ(footprint_of(DoCoM{}).coded, 2u);
  EXPECT_EQ(footprint_of(QsparseLocalSGD{}).coded, 1u);  // messages from the server are dense
}

TEST(Footprint, BytesGrowWithAgentsAndLinks) {
  const Footprint run{.fields = 3, .surrogates = 2, .coded = 1};
  EXPECT_EQ(run.state_bytes(10, 0, 1), 50u * 512);  // each row starts at a multiple of 512 bytes
  EXPECT_EQ(run.state_bytes(10, 0, 129), 50u * 1024);
  EXPECT_EQ(run.state_bytes(10, 20, 128), (30u + 2 * (20 + 10)) * 512);  // with the means
  const CodecOptions qsgd{.kind = "qsgd"}, small_buckets{.kind = "qsgd", .bucket = 2};
  EXPECT_EQ(run.codec_bytes(10, 20, 128, qsgd), 2 * run.codec_bytes(10, 0, 128, qsgd));
  EXPECT_GE(run.codec_bytes(10, 0, 4096, small_buckets),
            run.codec_bytes(10, 0, 4096, qsgd) + 10 * 2047 * 28);
  EXPECT_EQ(run.codec_bytes(10, 0, 128, {}), 0u);  // uncompressed rows
}

constexpr int agents = 8;

struct Flat final : Objective<float> {
  explicit Flat(std::size_t d) : d(d) {}
  int agents() const override { return cuda::agents; }
  std::size_t dimension() const override { return d; }
  double value(int, std::span<const float>) const override { return 0; }
  void gradient(int, std::span<const float>, std::span<float> g) const override {
    std::ranges::fill(g, 0.0f);
  }
  std::size_t d;
};

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

struct Measured {
  std::size_t state, taken;           // of a real run
  std::size_t foretold, with_codecs;  // estimated from its footprint
};

Measured measure(const std::string& name, std::size_t d, double drop) {
  const AlgorithmOptions options = dense::options_of(name);
  const Graph graph = dense::graph_for(name, ring(agents));
  const Spectrum spectrum = ticopd::spectrum(graph, Weights::metropolis);
  // In the worst case this codec keeps the values and indices of all coordinates, and encodes both.
  const CodecOptions codec = dense::codec_for(name, {.kind = "threshold", .then = "qsgd"});
  const auto on_host = make_codec<float>(codec);
  const Flat objective(d);
  Alone alone;
  Pool pool(1, false);
  const auto net = make_network({.graph = graph,
                                 .objective = objective,
                                 .codec = *on_host,
                                 .transport = alone,
                                 .pool = pool,
                                 .links = {.drop = drop}},
                                {});
  Measured m{};
  const std::size_t before = free_memory();
  const auto run = dense::device_algorithm(name, graph)(*net);
  m.taken = before - std::min(before, free_memory());
  m.state = net->state_bytes();
  with_algorithm(All{}, name, [&]<class A>() {
    Warnings warnings;
    const Footprint counted = footprint_of(resolved<A>(options, spectrum, warnings, 1000));
    const std::size_t links = drop > 0 ? 2 * graph.edges() : 0;
    m.foretold = counted.state_bytes(agents, links, d);
    m.with_codecs = m.foretold + counted.codec_bytes(agents, links, d, codec);
  });
  return m;
}

TEST(Footprint, EqualsTheStateOfARunForEveryAlgorithm) {
  TICOPD_NEEDS_DEVICE();
  for (const std::string& name : dense::algorithm_names())
    for (const double drop : {0.0, 0.3}) {
      const AlgorithmNeeds needs = algorithm_needs(dense::options_of(name));
      if (drop > 0 && (needs.centre || needs.fixed_graph)) continue;
      SCOPED_TRACE(name);
      const Measured m = measure(name, 500, drop);
      EXPECT_EQ(m.state, m.foretold);
    }
}

TEST(Footprint, EstimateCoversTheMemoryTaken) {
  TICOPD_NEEDS_DEVICE();
  measure("ticopd", 500, 0);  // so that CUDA has taken its own memory before
  for (const char* name : {"ticopd", "lead", "docom", "qsparse_local_sgd"}) {
    SCOPED_TRACE(name);
    const Measured m = measure(name, 1 << 21, 0);  // a field takes 64 MiB
    EXPECT_GE(m.taken, m.state);
    if (briefly()) continue;  // the sanitizer takes memory itself
    EXPECT_LE(m.taken, m.with_codecs + (std::size_t{32} << 20));  // memory comes in whole pages
  }
}

}  // namespace
}  // namespace ticopd::cuda
