#include "ticopd/run/solve.hpp"

#include <thread>

#include "ticopd/error.hpp"
#include "ticopd/transport/threads.hpp"

namespace ticopd {
namespace {

// The ranks are threads of this process, each with a Run of its own.
template <class T>
Solution<T> solve_by_threads(const RunFactory<T>& algorithm, const Setup<T>& setup) {
  const int count = setup.execution.ranks;
  Solution<T> solution;
  Field<T> x(static_cast<std::size_t>(setup.graph.agents()), setup.objective->dimension());
  ThreadRanks ranks(count, setup.execution.deadline_s);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(count));
  const auto solve_rank = [&](int r) {
    Run<T> run(algorithm, setup, ranks.rank(r));
    while (run.step() > 0) {
    }
    Solution<T> mine = run.summary();
    // Ranks write disjoint rows of one x; the rest of a solution is rank 0's.
    const Field<T>& rows = run.x();
    for (std::size_t row = 0; row < rows.rows(); ++row)
      std::ranges::copy(rows.row(row),
                        x.row(static_cast<std::size_t>(run.first_agent()) + row).begin());
    if (r == 0) solution = std::move(mine);
  };
  std::vector<std::thread> threads;
  for (int r = 0; r < count; ++r)
    threads.emplace_back([&, r] {
      try {
        solve_rank(r);
      } catch (const std::exception& e) {
        errors[static_cast<std::size_t>(r)] = std::current_exception();
        ranks.abandon(r, e.what());
      } catch (...) {  // a callback may throw anything; it reaches the caller below
        errors[static_cast<std::size_t>(r)] = std::current_exception();
        ranks.abandon(r, "an exception that has no message");
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
  solution.x = std::move(x);
  return solution;
}

template <class T>
Solution<T> solve_here(const RunFactory<T>& algorithm, const Setup<T>& setup) {
  Run<T> run(algorithm, setup);
  while (run.step() > 0) {
  }
  return run.solution();
}

}  // namespace

std::string name_of(Device device) {
  return device == Device::cpu ? "cpu" : cuda::device_name();
}

template <class T>
Solution<T> solve(const RunFactory<T>& algorithm, const Setup<T>& setup) try {
  check_setup(setup);
  const bool threads = setup.execution.transport == nullptr && setup.execution.ranks > 1;
  return threads ? solve_by_threads(algorithm, setup) : solve_here(algorithm, setup);
} catch (...) {
  give_up(setup, std::current_exception());
  throw;
}

template Solution<float> solve<float>(const RunFactory<float>&, const Setup<float>&);
template Solution<double> solve<double>(const RunFactory<double>&, const Setup<double>&);

}  // namespace ticopd
