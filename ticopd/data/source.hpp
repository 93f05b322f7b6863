#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/data/reading.hpp"

namespace ticopd {

// The keys of [problem] that say which samples to read.
struct DataOptions {
  std::string data = "mnist";
  std::filesystem::path base;  // relative paths start here
  std::string test;            // libsvm, csv: the test file; libsvm takes FILE.t by itself
  bool normalize = false;
  std::size_t max_samples = 0;  // the first so many training samples; 0: all
  std::size_t samples = 2000;   // of synthetic and digits
  std::size_t features = 64;    // of synthetic
  int classes = 10;             // of synthetic
  std::uint64_t seed = 1;
  bool offline = false;
  bool regression = false;  // labels are targets, taken as they are
  std::function<void(std::string)> say;
};

struct DataInfo {
  std::string_view name;
  std::string_view summary;
};
std::span<const DataInfo> data_table();

// ConfigError naming problem.data for an unknown form, FormatError naming the file for bad data,
// UnavailableError where MNIST cannot be had.
// Labels of libsvm, csv and npy files must be whole numbers unless `regression`; the values found
// in the training file become classes 0, 1, ... in ascending order.
// With `choose`, `train` holds the chosen samples in the order given and no others were ever held:
// it is load(options).train.select(choose(labels, classes)) bit for bit.
template <class T>
TrainTest<T> load(const DataOptions& options, const Choose& choose = {});

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

// A.npy and b.npy of the folder; `choose` names the agents to hold by the number of agents and the
// samples of each, empty: all.
template <class T>
StackedRegression<T> load_stacked(
    const std::filesystem::path& folder,
    const std::function<AgentRange(std::size_t agents, std::size_t samples)>& choose = {});

}  // namespace ticopd
