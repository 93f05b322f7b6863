#include "ticopd/studies/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "ticopd/error.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/run/solve.hpp"
#include "ticopd/system/cores.hpp"

namespace ticopd {
namespace {

constexpr int most_sites_by_default = 8;
constexpr std::size_t most_violations = 100;

// Collects outcomes from several threads.
class Tally {
 public:
  Tally(Simulated& all, const SimulationOptions& options) : all_(all), options_(options) {}

  void add(std::uint64_t seed, const SimOutcome& o) {
    const std::lock_guard lock(mutex_);
    ++all_.played;
    all_.same += o.end == SimOutcome::End::same;
    all_.refused += o.end == SimOutcome::End::refused;
    if (o.end == SimOutcome::End::violation) {
      ++all_.violated;
      if (all_.violations.size() < most_violations) all_.violations[seed] = o.what;
    }
    all_.kills += o.kills;
    all_.power_losses += o.power_losses;
    all_.messages += o.messages;
    all_.lost += o.lost;
    all_.checkpoints += o.checkpoints;
    all_.rosters += o.rosters;
    all_.seconds += static_cast<double>(o.time) / static_cast<double>(one_second);
    all_.trace += o.trace;
    if (options_.on_progress) options_.on_progress(all_.played);
  }

 private:
  std::mutex mutex_;
  Simulated& all_;
  const SimulationOptions& options_;
};

template <class T>
Prepared<T> prepare_quietly(const Config& config, const PrepareOptions& options) {
  Prepared<T> prepared = prepare<T>(config, options);
  prepared.setup.execution = {};
  prepared.setup.watch.level = MetricLevel::rows;
  prepared.setup.watch.lyapunov = {};
  return prepared;
}

// The rosters that are handed out while some seeds go on: one of the same run, an epoch without the
// last site, and one with a new site in its place. A graph that cannot be smaller stays as it is.
template <class T>
class LaterRosters {
 public:
  LaterRosters(const Config& config, const PrepareOptions& options, const Prepared<T>& now,
               int sites) {
    std::vector<std::string> names;
    for (int s = 0; s < sites; ++s) names.push_back(fmt::format("site-{}", s));
    all.push_back({now.algorithm, now.setup, names});
    if (config.tree()["algorithm"]["name"] == "choco_gossip") return;  // has no second epoch
    std::vector<std::string> fewer = names;
    try {
      const int agents = now.setup.graph.agents();
      const Placement last(now.setup.graph, sites, sites - 1);
      nlohmann::json tree = config.tree();
      tree["graph"]["agents"] = agents - static_cast<int>(last.rows());
      if (sites < 3) throw ConfigError("two sites are the least");
      smaller_ = std::make_unique<Prepared<T>>(
          prepare_quietly<T>(Config::resolved(std::move(tree), config.folder()), options));
      fewer.pop_back();
    } catch (const ConfigError&) {
      smaller_.reset();
    }
    const Prepared<T>& second = smaller_ ? *smaller_ : now;
    all.push_back({second.algorithm, second.setup, fewer, 2});
    names.back() = fmt::format("site-{}", sites);
    all.push_back({now.algorithm, now.setup, names, 3});
  }
  std::vector<SimRoster<T>> all;

 private:
  std::unique_ptr<Prepared<T>> smaller_;
};

template <class T>
Simulated simulate_as(const Config& config, const SimulationOptions& options) {
  PrepareOptions prepare_options = options.prepare;
  const int threads = prepare_options.threads > 0 ? prepare_options.threads : usable_cores();
  const Prepared<T> prepared = prepare_quietly<T>(config, prepare_options);
  const Setup<T>& setup = prepared.setup;
  const int agents = setup.graph.agents();
  Simulated all;
  all.sites = options.sites > 0 ? options.sites : std::min(agents, most_sites_by_default);
  if (all.sites < 2 || all.sites > agents)
    throw ConfigError(fmt::format("--sites {}: allowed are 2 to {}, the number of agents",
                                  all.sites, agents));
  all.digest = solve(prepared.algorithm, setup).digest;
  LaterRosters<T> later(config, prepare_options, prepared, all.sites);
  const SimProblem<T> problem{prepared.algorithm, setup, all.sites, all.digest, later.all};
  Tally tally(all, options);
  std::atomic<std::uint64_t> next = options.first;
  const auto stopped = [&] { return options.stop != nullptr && options.stop->load(); };
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (int w = 0; w < threads; ++w)
    workers.emplace_back([&, w] {
      try {
        for (std::uint64_t seed; (seed = next++) <= options.last && !stopped();)
          tally.add(seed, play(problem, seed, options.faults));
      } catch (...) {
        errors[static_cast<std::size_t>(w)] = std::current_exception();
        next = options.last + 1;
      }
    });
  for (std::thread& w : workers) w.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
  if (stopped())
    throw Interrupted(fmt::format("interrupted after {} of {} seeds; {} violations", all.played,
                                  options.last - options.first + 1, all.violated));
  return all;
}

}  // namespace

Simulated simulate(const Config& config, const SimulationOptions& options) {
  if (options.last < options.first)
    throw ConfigError(fmt::format("--seeds {}..{}: the first must not be above the last",
                                  options.first, options.last));
  if (config.get<std::string>("precision") == "double")
    return simulate_as<double>(config, options);
  return simulate_as<float>(config, options);
}

}  // namespace ticopd
