// sim_trace [SEEDS [FIRST]] plays so many seeds with each algorithm and precision, and prints how
// they ended and a hash over all that happened. Every compiler gives the same output
// (tests/site/same_trace). Exits with 1 if a seed is a violation.
#include <cstdio>
#include <cstdlib>

#include "site/simulated.hpp"

namespace ticopd::dense {
namespace {

using Number = unsigned long long;

struct Seeds {
  std::uint64_t count, first;
};

// The number of violations.
template <class T>
std::uint64_t play_all(const std::string& name, const Seeds& seeds) {
  const Changed<T> s(name);
  std::uint64_t trace = 0, same = 0, refused = 0, violations = 0, kills = 0, power = 0, lost = 0,
                rosters = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const SimOutcome outcome = play(s.problem, seed, Faults());
    same += outcome.end == SimOutcome::End::same;
    refused += outcome.end == SimOutcome::End::refused;
    if (outcome.end == SimOutcome::End::violation) {
      std::printf("VIOLATION %s, seed %llu: %s\n", name.c_str(), Number{seed},
                  outcome.what.c_str());
      ++violations;
    }
    kills += outcome.kills;
    power += outcome.power_losses;
    lost += outcome.lost;
    rosters += outcome.rosters;
    trace = trace * 0x9e3779b97f4a7c15 + outcome.trace;
  }
  std::printf(
      "%s %zu digest %s trace %016llx same %llu refused %llu killed %llu power %llu lost %llu "
      "rosters %llu\n",
      name.c_str(), 8 * sizeof(T), s.problem.digest.c_str(), Number{trace}, Number{same},
      Number{refused}, Number{kills}, Number{power}, Number{lost}, Number{rosters});
  std::fflush(stdout);
  return violations;
}

}  // namespace
}  // namespace ticopd::dense

int main(int argc, char** argv) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const ticopd::dense::Seeds seeds{number(1, 20), number(2, 1)};
  std::uint64_t violations = 0;
  for (const std::string& name : ticopd::dense::algorithm_names()) {
    violations += ticopd::dense::play_all<float>(name, seeds);
    violations += ticopd::dense::play_all<double>(name, seeds);
  }
  return violations == 0 ? 0 : 1;
}
