#include "ticopd/run/solve.hpp"

#include <thread>

#include "ticopd/error.hpp"
#include "ticopd/run/rounds.hpp"
#include "ticopd/transport/threads.hpp"

namespace ticopd {
namespace {

template <class T>
Field<T> all_rows(const Setup<T>& setup) {
  return {static_cast<std::size_t>(setup.graph.agents()), setup.objective->dimension()};
}

template <class T>
void run_rank(const RunFactory<T>& algorithm, const Setup<T>& setup, Transport& transport,
              Solution<T>& solution) {
  // Ranks that live side by side in one process would all pin to the same processors.
  Pool pool(setup.threads, setup.ranks == 1 && setup.may_pin && may_pin(setup.threads));
  const Surroundings<T> surroundings{.graph = setup.graph,
                                     .objective = *setup.objective,
                                     .codec = *setup.codec,
                                     .transport = transport,
                                     .pool = pool,
                                     .weights = setup.weights,
                                     .seed = setup.seed,
                                     .batch = setup.batch,
                                     .links = setup.links,
                                     .channel_noise = setup.channel_noise};
  if (setup.device == Device::cpu) {
    CpuNetwork<T> net(surroundings);
    run_rounds(algorithm, setup, net, solution);
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    const auto net = cuda::make_network(surroundings, setup.cuda);
    run_rounds(algorithm, setup, *net, solution);
  } else {
    throw ConfigError("precision = \"double\": with --device cuda allowed is \"float\"");
  }
}

// Ranks as threads of this process.
template <class T>
Solution<T> run_threads(const RunFactory<T>& algorithm, const Setup<T>& setup) {
  Solution<T> solution;
  solution.x = all_rows(setup);
  ThreadRanks ranks(setup.ranks, setup.deadline_s);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(setup.ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < setup.ranks; ++r)
    threads.emplace_back([&, r] {
      const auto at = static_cast<std::size_t>(r);
      try {
        // Ranks write disjoint rows of one x; the rest of a solution is rank 0's.
        run_rank(algorithm, setup, ranks.rank(r), solution);
      } catch (const std::exception& e) {
        errors[at] = std::current_exception();
        ranks.abandon(r, e.what());
      }
    });
  for (std::thread& t : threads) t.join();
  // The rank that failed first tells why; the others only lost it.
  std::exception_ptr lost;
  for (const std::exception_ptr& error : errors) {
    if (!error) continue;
    try {
      std::rethrow_exception(error);
    } catch (const Interrupted&) {
      if (!lost) lost = error;
    }
  }
  if (lost) std::rethrow_exception(lost);
  return solution;
}

// An objective that nobody can draw from would take all of f_i for every batch, and say nothing.
template <class T>
void check_batch(const Setup<T>& setup) {
  if (setup.batch == 0) return;
  for (int agent = 0; agent < setup.objective->agents(); ++agent)
    if (setup.objective->samples(agent) > 0) return;
  throw ConfigError("problem.batch = " + std::to_string(setup.batch) +
                    ": the objective has no samples, allowed is \"full\" (setup.batch = 0)");
}

template <class T>
Solution<T> run(const RunFactory<T>& algorithm, const Setup<T>& setup) {
  if (setup.ranks < 1 || setup.threads < 1)
    throw ConfigError("ranks and threads: allowed are whole numbers from 1 up");
  check_batch(setup);
  if (setup.transport == nullptr && setup.ranks > 1) return run_threads(algorithm, setup);
  Solution<T> solution;
  Alone alone;
  run_rank(algorithm, setup, setup.transport != nullptr ? *setup.transport : alone, solution);
  return solution;
}

}  // namespace

std::string name_of(Device device) {
  return device == Device::cpu ? "cpu" : cuda::device_name();
}

template <class T>
Solution<T> solve(const RunFactory<T>& algorithm, const Setup<T>& setup) try {
  return run(algorithm, setup);
} catch (const std::exception& e) {
  give_up(setup, e);
  throw;
}

template Solution<float> solve<float>(const RunFactory<float>&, const Setup<float>&);
template Solution<double> solve<double>(const RunFactory<double>&, const Setup<double>&);

}  // namespace ticopd
