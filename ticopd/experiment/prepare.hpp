#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/objectives/external.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd {

struct PrepareOptions {
  int threads = 0;       // in all, shared out among ranks; 0: every core this process may use
  bool offline = false;  // never fetch data
  std::function<void(const std::string&)> say = {};  // what takes long, and warnings
  // Processes that share the run, and which of them this is: it loads the shards of its own agents.
  int rank = 0;
  int ranks = 1;
  std::vector<int> blocks = {};  // agents of each rank; empty: dealt by the number of samples
  Device device = Device::cpu;
  // For configs with problem.objective = "external".
  std::shared_ptr<const ExternalObjective> external = {};
};

// A config turned into what `solve` takes.
template <class T>
struct Prepared {
  RunFactory<T> algorithm;
  Setup<T> setup;
  Spectrum spectrum;
  std::string data;    // what was read
  std::string labels;  // fingerprint of all labels, which every rank reads; empty: each its own
};

// Everything that can be refused without reading data: ConfigError, or what there is to say.
Warnings check(const Config& config, Device device = Device::cpu);

// The number of agents, from the config or its edge list.
int configured_agents(const Config& config);

// The algorithm's name, parameters and flags, as they stand in the config.
AlgorithmOptions configured_options(const Config& config);

// The algorithm alone: other step sizes on a problem that is already loaded.
template <class T>
RunFactory<T> configured_algorithm(const Config& config, const Spectrum& graph, Warnings& warnings,
                                   Device device = Device::cpu);

// The codec alone: the config's, or what the algorithm brings.
CodecOptions configured_codec_options(const Config& config);
template <class T>
std::shared_ptr<const Codec<T>> configured_codec(const Config& config);

extern template std::shared_ptr<const Codec<float>> configured_codec<float>(const Config&);
extern template std::shared_ptr<const Codec<double>> configured_codec<double>(const Config&);

// `check`, then the data.
template <class T>
Prepared<T> prepare(const Config& config, const PrepareOptions& options);

extern template Prepared<float> prepare<float>(const Config&, const PrepareOptions&);
extern template Prepared<double> prepare<double>(const Config&, const PrepareOptions&);

// Names what to change when this config diverges: a codec that does not suit the method, else its
// step sizes, with their values.
std::string advice_after_divergence(const Config& config);

}  // namespace ticopd
