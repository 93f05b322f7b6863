#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "ticopd/data/table.hpp"

namespace ticopd {

// X.npy, y.npy and, where they are there, X_test.npy and y_test.npy of a folder.
template <class T>
SampleSource<T> open_npy(const std::filesystem::path& folder, const DataOptions& options);

// Agents first ... first + count - 1.
struct AgentRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Least squares given agent by agent: f_i(x) = ||A_i x - b_i||^2 / (2 samples).
template <class T>
struct StackedRegression {
  std::size_t agents = 0;
  std::size_t samples = 0;
  std::size_t features = 0;
  AgentRange held = {};  // the agents that a and b are of
  std::vector<T> a;      // held x samples x features
  std::vector<T> b;      // held x samples
};

// The folder with A.npy and b.npy that problem.data names; empty: it names none.
std::filesystem::path stacked_folder(const DataOptions& options);

// A.npy and b.npy of the folder; `choose` names the agents to hold by the number of agents and the
// samples of each, empty: all.
template <class T>
StackedRegression<T> load_stacked(
    const std::filesystem::path& folder,
    const std::function<AgentRange(std::size_t agents, std::size_t samples)>& choose = {});

}  // namespace ticopd
