#pragma once

#include <string>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd {

// With what the run had done up to its last logged round, for its summary.
struct DivergedRun : Diverged {
  using Diverged::Diverged;
  std::uint32_t rounds = 0;
  std::string digest;
  std::vector<Ledger::Agent> ledger;
  double seconds = 0;
};

// All rounds of the agents that `net` hosts, from the first or from a checkpoint on. Every rank
// calls it with the same setup. Ranks that share one `solution` write their own rows of x, and rank
// 0 all the rest.
template <class T>
void run_rounds(const RunFactory<T>& algorithm, const Setup<T>& setup, AnyNetwork<T>& net,
                Solution<T>& solution);

extern template void run_rounds(const RunFactory<float>&, const Setup<float>&, AnyNetwork<float>&,
                                Solution<float>&);
extern template void run_rounds(const RunFactory<double>&, const Setup<double>&,
                                AnyNetwork<double>&, Solution<double>&);

}  // namespace ticopd
