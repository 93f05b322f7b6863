// Plays seeds of the simulator and prints a hash over all that happened, for each algorithm: it is
// the same for every compiler and optimisation (tests/site/same_trace).
#include <cstdio>
#include <cstdlib>

#include "network/every_algorithm.hpp"
#include "ticopd/sim/play.hpp"

namespace ticopd::dense {
namespace {

template <class T>
void print_trace(const std::string& name, std::uint64_t seeds) {
  Setup<T> setup{.graph = graph_for(name, ring(6)),
                 .objective = std::make_shared<LeastSquares<T>>(ProblemSize{6, 10, 4}),
                 .codec = make_codec<T>(codec_for(name, {.kind = "qsgd"})),
                 .iterations = 20,
                 .watch = {.rounds = {.every = 4}}};
  const RunFactory<T> run = algorithm<T>(name, setup.graph);
  const SimProblem<T> problem{run, setup, 3, solve(run, setup).digest};
  std::uint64_t all = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SimOutcome outcome = play(problem, seed, Faults());
    if (outcome.end == SimOutcome::End::violation) std::exit(1);
    all = all * 0x9e3779b97f4a7c15 + outcome.trace;
  }
  std::printf("%s %zu %s %016lx\n", name.c_str(), 8 * sizeof(T), problem.digest.c_str(),
              static_cast<unsigned long>(all));
}

}  // namespace
}  // namespace ticopd::dense

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20;
  for (const std::string& name : ticopd::dense::algorithm_names()) {
    ticopd::dense::print_trace<float>(name, seeds);
    ticopd::dense::print_trace<double>(name, seeds);
  }
}
