#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/objectives/external.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd {

class SharedProblems;  // experiment/shared_problems.hpp

struct PrepareOptions {
  int threads = 0;       // in all, shared out among ranks; 0: every core this process may use
  bool offline = false;  // never fetch data
  std::function<void(const std::string&)> say = {};  // what takes long, and warnings
  // Processes that share the run, and which of them this is: it loads the shards of its own agents.
  int rank = 0;
  int ranks = 1;
  std::vector<int> blocks = {};  // agents of each rank; empty: dealt by the number of samples
  // Gives each process's value to all of them, in the order of their ranks; empty: they cannot
  // talk.
  std::function<std::vector<nlohmann::json>(const nlohmann::json& mine)> gather = {};
  Device device = Device::cpu;
  // For configs with problem.objective = "external".
  std::shared_ptr<const ExternalObjective> external = {};
  // Several runs go on side by side: none may take the processors for itself.
  bool may_pin = true;
  std::shared_ptr<SharedProblems> shared = {};  // runs that use the same data read it once
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

// The graph alone, from the config or its edge list, and the number of its agents.
Graph configured_graph(const Config& config);
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

// Empty unless the algorithm needs an unbiased codec and this one is biased.
std::string biased_codec_of(const Config& config);

// `check`, then the data.
template <class T>
Prepared<T> prepare(const Config& config, const PrepareOptions& options);

// The same on an objective that is loaded already: another graph, codec or seed on the same data.
template <class T>
Prepared<T> prepare_again(const Config& config, const PrepareOptions& options,
                          std::shared_ptr<const Objective<T>> objective);

extern template Prepared<float> prepare_again(const Config&, const PrepareOptions&,
                                              std::shared_ptr<const Objective<float>>);
extern template Prepared<double> prepare_again(const Config&, const PrepareOptions&,
                                               std::shared_ptr<const Objective<double>>);

extern template Prepared<float> prepare<float>(const Config&, const PrepareOptions&);
extern template Prepared<double> prepare<double>(const Config&, const PrepareOptions&);

// Names what to change when this config diverges: a codec that does not suit the method, else its
// step sizes, with their values.
std::string advice_after_divergence(const Config& config);

}  // namespace ticopd
