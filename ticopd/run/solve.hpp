#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/algorithms/compatibility.hpp"
#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/cuda/cuda.hpp"
#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/run/log_rounds.hpp"
#include "ticopd/run/measure.hpp"

namespace ticopd {

// Where the rows of a run live.
enum class Device { cpu, cuda };
std::string name_of(Device device);  // as run.json has it: of a GPU, what kind it is

// A run to be made. Graph and objective are needed; the rest has defaults.
template <class T>
struct Setup {
  Graph graph;
  std::shared_ptr<const Objective<T>> objective;
  std::shared_ptr<const Codec<T>> codec = make_codec<T>({});  // identity; or what it brings
  Weights weights = Weights::metropolis;
  std::uint64_t seed = 1;
  std::size_t batch = 0;    // samples per gradient; 0: all, as for objectives without
  LinkSchedule links = {};  // which edges are active in which round
  ChannelNoise channel_noise = {};
  std::uint32_t iterations = 1000;
  LogRounds log = {};
  double until_bits = 0;   // above 0: ends before an agent would send more, or after `iterations`
  bool only_last = false;  // measure the last round alone; x is watched, so divergence ends it soon

  Device device = Device::cpu;
  cuda::Options cuda = {};  // for Device::cuda, with the factory of cuda::make_algorithm

  int threads = 1;         // of each rank
  bool may_pin = true;     // nobody else uses these processors
  int ranks = 1;           // processes to simulate, as threads with real frames between them
  double deadline_s = 60;  // how long a rank waits for another
  Transport* transport = nullptr;  // ranks that are processes: then `ranks` means nothing, and each
                                   // of them calls solve with its own shards in `objective`
  bool abandons = true;  // and tells the others when it throws; false: whoever called it does

  // F_t of the theorem, evaluated at each logged round: experiment/analysis.hpp makes it. One rank
  // only.
  std::function<double(AnyNetwork<T>&, AnyRun<T>&)> lyapunov = {};

  // What an algorithm given as a struct has to say of its parameters, before the first round.
  std::function<void(const std::string&)> on_warning = {};
  std::function<void(const Metrics&)> on_log = {};         // after each logged round
  std::function<void(std::uint32_t round)> on_round = {};  // after each round

  // Where to save the state, how often, and what to save with it; empty: never.
  std::filesystem::path checkpoint = {};
  double checkpoint_every_s = 0;
  std::uint32_t checkpoint_every = 0;  // rounds
  std::string checkpoint_config = {};
  bool resume = false;
  std::function<void()> before_checkpoint = {};
  const std::atomic<bool>* stop = nullptr;  // set from outside: finish the round, save, return
};

template <class T>
struct Solution {
  bool finished = true;  // false: stopped from outside, saved where a checkpoint was asked for
  std::uint32_t rounds = 0;
  Field<T> x;                         // the agents' models, one row each: all, or with a
  int first_agent = 0;                // transport those of this process, from this one on
  std::string digest;                 // equal for equal config and seed, however it was run
  std::vector<Ledger::Agent> ledger;  // bytes sent, by agent
  std::string transport;              // what each rank carried: JSON, as in run.json
  Phases phases;                      // seconds by phase, of rank 0
  double spent = 0;                   // seconds of which those are parts: without earlier parts
  std::size_t state_bytes = 0;        // of all fields, mirrors and messages, of rank 0
  std::size_t resident_bytes = 0;     // of the process when the last round was done
  double seconds = 0;                 // wall time, earlier parts of a resumed run included
  Metrics last;                       // the last logged round
};

// For who catches: processes that would wait for this one hear why it gives up.
template <class T>
void give_up(const Setup<T>& setup, const std::exception& why) {
  if (setup.transport == nullptr || !setup.abandons) return;
  const auto* known = dynamic_cast<const Error*>(&why);
  setup.transport->abandon(known != nullptr ? known->exit_code() : 70, why.what());
}

// Runs it. Throws Diverged, Interrupted (a rank was lost), ConfigError, FormatError, DiskError.
template <class T>
Solution<T> solve(const RunFactory<T>& algorithm, const Setup<T>& setup);

extern template Solution<float> solve<float>(const RunFactory<float>&, const Setup<float>&);
extern template Solution<double> solve<double>(const RunFactory<double>&, const Setup<double>&);

// Holds an algorithm to its surroundings as the command line does: ConfigError where a parameter,
// the codec or the graph does not suit it. Gives it what follows from them, and the run its codec.
template <class Algorithm, class T>
void fit(Algorithm& algorithm, Setup<T>& setup) {
  check_parameters(algorithm);
  const AlgorithmNeeds needs = needs_of(algorithm);
  if (!setup.codec->lossless())
    check_lossy_codec(Algorithm::name, is_uncompressed<Algorithm>, has_own_codec<Algorithm>,
                      "setup.codec", "setup.codec");
  if (needs.codec) setup.codec = make_codec<T>(*needs.codec);
  check_graph(Algorithm::name, needs, setup.graph, setup.links);
  Spectrum seen{};
  if constexpr (TakesFromGraph<Algorithm>) seen = spectrum(setup.graph, setup.weights);
  Warnings warnings;
  derive_parameters(algorithm, seen, setup.iterations, warnings);
  if (setup.on_warning && (setup.transport == nullptr || setup.transport->rank() == 0))
    for (const std::string& warning : warnings) setup.on_warning(warning);
}

// solve(TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup)
template <class Algorithm, class T>
requires requires {
  Algorithm::parameters();
}
Solution<T> solve(Algorithm algorithm, Setup<T> setup) {
  try {
    fit(algorithm, setup);
  } catch (const std::exception& e) {
    give_up(setup, e);
    throw;
  }
  return solve(run_factory<T>(algorithm), setup);
}

}  // namespace ticopd
