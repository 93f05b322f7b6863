// What a round costs on a GPU: medians over batches of rounds after a warm-up, as one JSON object
// in microseconds. The data set is given as problem.data takes it.
//   bench_cuda mnist         or, without the files: bench_cuda digits
//   bench_cuda mnist softmax       only those with that word
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/cuda/network.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/network/clock.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd::bench {
namespace {

constexpr int batches = 9;

// A problem on the device: a model, and shards of the data.
class World {
 public:
  World(const TrainTest<float>& data, int agents, Partition split, std::vector<int> hidden,
        CodecOptions codec)
      : graph_(ring(agents)), codec_(make_codec<float>(codec)) {
    auto problem = std::make_shared<cuda::Problem>();
    const auto parts = partition(data.train.labels(), data.classes, agents, split, 0.3, 1);
    for (const auto& part : parts) problem->shards.push_back(data.train.select(part));
    problem->widths.push_back(data.train.features());
    for (const int width : hidden) problem->widths.push_back(static_cast<std::size_t>(width));
    problem->widths.push_back(static_cast<std::size_t>(data.classes));
    ObjectiveOptions options;
    if (hidden.empty()) options.objective = "softmax";
    options.hidden = hidden;
    objective_ = make_objective<float>(options, problem->shards, {}, data.classes);
    net_ = std::make_unique<cuda::CudaNetwork>(Surroundings<float>{.graph = graph_,
                                                                   .objective = *objective_,
                                                                   .codec = *codec_,
                                                                   .transport = alone_,
                                                                   .pool = pool_},
                                               cuda::Options{.codec = codec, .problem = problem});
  }

  cuda::CudaNetwork& net() { return *net_; }

  // Microseconds of one round that does `work`: the median of some batches.
  double time(int rounds, const std::function<void()>& work) {
    const auto batch = [&] {
      for (int i = 0; i < rounds; ++i) {
        net_->begin_round(net_->round() + 1);
        work();
      }
      net_->finish();
    };
    batch();
    std::vector<double> seconds;
    for (int b = 0; b < batches; ++b) {
      const double begin = seconds_now();
      batch();
      seconds.push_back(seconds_now() - begin);
    }
    std::nth_element(seconds.begin(), seconds.begin() + batches / 2, seconds.end());
    return 1e6 * seconds[batches / 2] / rounds;
  }

 private:
  Graph graph_;
  std::unique_ptr<Codec<float>> codec_;
  Alone alone_;
  Pool pool_{1, false};
  std::unique_ptr<Objective<float>> objective_;
  std::unique_ptr<cuda::CudaNetwork> net_;
};

// As in experiments/mnist_ring10.toml.
const TiCoPD steps{.alpha = 0.3, .theta = 0.3333, .eta = 0.0333, .beta = 0.6};

struct Figures {
  double round, gradient, exchange, update;
};

Figures figures(World& world, int rounds) {
  TiCoPD::Run<cuda::CudaNetwork> run(steps, world.net());
  Figures f;
  f.round = world.time(rounds, [&] { run.step(); });
  f.gradient = world.time(rounds, [&] { world.net().gradient(run.x, run.grad); });
  f.exchange = world.time(rounds, [&] { run.xhat.send(run.x, 1.0f); });
  f.update = world.time(rounds, [&] {
    world.net().map(TiCoPD::PrimalDual<float>{0, 0, 0, 1}, run.x, run.lambda, run.xhat.own(),
                    run.xhat.mixed(), run.grad);
  });
  return f;
}

void print(const char* name, const Figures& f, bool last = false) {
  std::printf(
      "  \"%s\": {\"round\": %.2f, \"gradient\": %.2f, \"exchange\": %.2f, \"update\": %.2f}%s\n",
      name, f.round, f.gradient, f.exchange, f.update, last ? "" : ",");
  std::fflush(stdout);
}

int measure(const std::string& source, const std::string& only) {
  const TrainTest<float> data = load<float>({.data = source, .samples = 60000, .offline = true});
  const CodecOptions eight{.kind = "qsgd", .bits = 8};
  const auto one = [&](const char* name, int agents, Partition split, std::vector<int> hidden,
                       const CodecOptions& codec, int rounds, bool last = false) {
    if (std::string(name).find(only) == std::string::npos) return;
    World world(data, agents, split, std::move(hidden), codec);
    print(name, figures(world, rounds), last);
  };
  std::printf("{\n  \"device\": \"%s\",\n", cuda::device_name().c_str());
  one("paper, qsgd 8 bits", 10, Partition::label, {100}, eight, 960);
  one("paper, qsgd 8 bits, entropy", 10, Partition::label, {100},
      {.kind = "qsgd", .bits = 8, .coding = Coding::entropy}, 480);
  one("paper, top 2 % then qsgd 6 bits, entropy", 10, Partition::label, {100},
      {.kind = "top_k",
       .bits = 6,
       .scaled = false,
       .fraction = 0.02,
       .then = "qsgd",
       .coding = Coding::entropy},
      480);
  one("two hidden layers 200-100", 10, Partition::label, {200, 100}, eight, 160);
  one("softmax", 10, Partition::label, {}, eight, 160);
  one("1000 agents, paper's network", 1000, Partition::iid, {100}, eight, 32);
  one("1000 agents, softmax", 1000, Partition::iid, {}, eight, 32, true);
  std::printf("}\n");
  return 0;
}

}  // namespace
}  // namespace ticopd::bench

int main(int argc, char** argv) try {
  ticopd::cuda::require_device();
  return ticopd::bench::measure(argc > 1 ? argv[1] : "mnist", argc > 2 ? argv[2] : "");
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
