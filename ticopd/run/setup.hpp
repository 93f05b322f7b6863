#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/cuda/cuda.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/numeric/seed.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/run/log_rounds.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/run/own_metrics.hpp"

namespace ticopd {

// Where the rows of a run live.
enum class Device { cpu, cuda };
std::string name_of(Device device);  // as run.json has it; a GPU has the name of its kind

// How a run is made: none of it changes the run's bits, but for the device.
struct Execution {
  Device device = Device::cpu;
  cuda::Options cuda = {};  // for Device::cuda

  int threads = 1;      // of each rank
  bool may_pin = true;  // nobody else uses these processors
  int ranks = 1;        // processes to simulate, as threads with real frames between them
  double deadline_s = default_deadline_s;  // how long a rank waits for another
  Transport* transport = nullptr;  // ranks that are processes: then `ranks` means nothing, and each
                                   // of them calls solve with its own shards in `objective`
  std::vector<int> blocks = {};    // agents of each rank; empty: dealt by the number of samples
  bool abandons = true;  // tells the other ranks when solve throws; false: whoever called it does
};

// What is measured, when, and who hears of it.
template <class T>
struct Watch {
  LogRounds rounds = {};  // which are logged
  MetricLevel level = MetricLevel::full;
  MetricScope scope = {};  // the samples and agents that metrics look at
  bool only_last = false;  // measure the last round alone; x is watched, so divergence ends it soon
  std::optional<double> first_loss = {};  // the loss at round 0 if it is known and not measured

  // F_t of the theorem, evaluated at each logged round: experiment/analysis.hpp makes it. One rank
  // only.
  std::function<double(AnyNetwork<T>&, AnyRun<T>&)> lyapunov = {};

  OwnMetrics<T> own = {};  // metrics of the program's own

  // Warnings before the first round: about the parameters of an algorithm given as a struct, a
  // codec that does not suit it, or a checkpoint that was made elsewhere. On rank 0.
  std::function<void(const std::string&)> on_warning = {};
  std::function<void()> on_begin = {};  // before the first round, when a resumed state was read
  std::function<void(const Metrics&)> on_log = {};         // after each logged round
  std::function<void(std::uint32_t round)> on_round = {};  // after each round

  double until_bits = 0;  // above 0: ends before an agent would send more, or after `iterations`
  const std::atomic<bool>* stop = nullptr;  // set from outside: finish the round, save, return
};

// Where the state is saved, how often, and what is saved with it.
struct Saving {
  std::filesystem::path file = {};  // empty: never
  double every_s = 0;
  std::uint32_t every = 0;  // rounds
  std::string config = {};  // kept in the file, for whoever resumes it
  bool resume = false;      // go on from the file, if it is there
  std::function<void()> before = {};
  double snapshot_share = 0;  // keep snapshots in memory for this share of the time (run.hpp)
};

// A run to be made. What is solved stands at the top, since every program says it; graph and
// objective are needed, the rest has defaults.
template <class T>
struct Setup {
  Graph graph;
  std::shared_ptr<const Objective<T>> objective;
  std::shared_ptr<const Codec<T>> codec = make_codec<T>({});  // identity; or what it brings
  Weights weights = Weights::metropolis;
  std::uint64_t seed = default_seed;
  // Draws the start, and the samples and agents that metrics look at. Empty: `seed` does.
  std::optional<std::uint64_t> problem_seed = {};
  // Where an agent starts; empty: all of them where the objective says. Surrogates that would begin
  // at a start that all know are then sent. On the CPU.
  std::function<void(int agent, std::span<T> x)> start_of = {};
  std::size_t batch = 0;    // samples per gradient; 0: all, as for objectives without
  LinkSchedule links = {};  // which edges are active in which round
  ChannelNoise channel_noise = {};
  std::uint32_t iterations = default_iterations;

  Execution execution = {};
  Watch<T> watch = {};
  Saving saving = {};

  std::uint64_t seed_of_problem() const { return problem_seed.value_or(seed); }
};

}  // namespace ticopd
