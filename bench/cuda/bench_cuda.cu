// Measures the cost of a round on a GPU with CUDA events: medians over batches of rounds after a
// warm-up, in microseconds, as one JSON object. The data set has the form of problem.data.
//   bench_cuda mnist         or, without the files: bench_cuda digits
//   bench_cuda mnist softmax       only problems whose name contains that word
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
#include "ticopd/objectives/registry.hpp"
#include "ticopd/system/clock.hpp"

namespace ticopd::bench {
namespace {

constexpr int batches = 9;

// A point in time in a stream of the device.
class Event {
 public:
  Event() { cuda::check(cudaEventCreate(&event_), "make an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { cuda::check(cudaEventRecord(event_, stream), "record"); }
  double seconds_since(const Event& begin) const {
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin.event_, event_), "ask for the time");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Microseconds of one round: medians over the batches.
struct Time {
  double device, host;  // by events in the queue's stream, and by the host's clock
};

double median(std::vector<double> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

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
                                               cuda::Options{.problem = problem});
  }

  cuda::CudaNetwork& net() { return *net_; }

  // The time of one round that does `work`, from batches of `rounds` rounds. A batch starts on an
  // idle device. The time between the two events contains the host's recording of the first rounds
  // (the queue enqueues sixteen at a time), all work of the device, and its waiting if the host is
  // slower. The host's clock also contains the wait for the end.
  Time time(int rounds, const std::function<void()>& work) {
    Event begin, end;
    const auto batch = [&] {
      begin.record(net_->queue().stream());
      for (int i = 0; i < rounds; ++i) {
        net_->begin_round(net_->round() + 1);
        work();
      }
      // A round number that does not follow the last one makes the queue enqueue everything it has
      // collected and join the other stream. So the event comes after all work.
      net_->begin_round(net_->round() + 2);
      end.record(net_->queue().stream());
      net_->finish();
    };
    batch();
    std::vector<double> device, host;
    for (int b = 0; b < batches; ++b) {
      const double from = seconds_now();
      batch();
      host.push_back(1e6 * (seconds_now() - from) / rounds);
      device.push_back(1e6 * end.seconds_since(begin) / rounds);
    }
    return {median(device), median(host)};
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
  Time round, gradient, exchange, update;
};

Figures figures(World& world, int rounds) {
  TiCoPD::Run<cuda::CudaNetwork> run(steps, world.net());
  Figures f;
  f.round = world.time(rounds, [&] { run.step(); });
  f.gradient = world.time(rounds, [&] { world.net().gradient(run.x, run.grad); });
  f.exchange = world.time(rounds, [&] {
    run.xhat.send(run.x, 1.0f);
    run.xhat.receive();
  });
  f.update = world.time(rounds, [&] {
    world.net().map(TiCoPD::PrimalDual<float>{0, 0, 0, 1}, run.x, run.lambda, run.xhat.own(),
                    run.xhat.mixed(), run.grad);
  });
  return f;
}

// The line of the device is printed first, so each of these can start with a comma.
void print(const char* name, const Figures& f) {
  std::printf(",\n  \"%s\": {\"round\": %.2f, \"round_host\": %.2f, ", name, f.round.device,
              f.round.host);
  std::printf("\"gradient\": %.2f, \"exchange\": %.2f, \"update\": %.2f}", f.gradient.device,
              f.exchange.device, f.update.device);
  std::fflush(stdout);
}

int measure(const std::string& source, const std::string& only) {
  const TrainTest<float> data = load<float>({.data = source, .samples = 60000, .offline = true});
  const CodecOptions eight{.kind = "qsgd", .bits = 8};
  const auto one = [&](const char* name, int agents, Partition split, std::vector<int> hidden,
                       const CodecOptions& codec, int rounds) {
    if (std::string(name).find(only) == std::string::npos) return;
    World world(data, agents, split, std::move(hidden), codec);
    print(name, figures(world, rounds));
  };
  std::printf("{\n  \"device\": \"%s\"", cuda::device_name().c_str());
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
  one("1000 agents, softmax", 1000, Partition::iid, {}, eight, 32);
  std::printf("\n}\n");
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
