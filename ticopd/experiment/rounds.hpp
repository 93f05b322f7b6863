#pragma once

#include "ticopd/experiment/solve.hpp"

namespace ticopd {

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
