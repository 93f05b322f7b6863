#pragma once

#include <functional>
#include <string>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/solve.hpp"

namespace ticopd {

struct PrepareOptions {
  int threads = 0;       // in all, shared out among ranks; 0: every core this process may use
  bool offline = false;  // never fetch data
  std::function<void(const std::string&)> say = {};  // what takes long, and warnings
  // Processes that share the run, and which of them this is: it loads the shards of its own agents.
  int rank = 0;
  int ranks = 1;
};

// A config turned into what `solve` takes.
template <class T>
struct Prepared {
  RunFactory<T> algorithm;
  Setup<T> setup;
  Spectrum spectrum;
  std::string data;  // what was read
};

// Everything that can be refused without reading data: ConfigError, or what there is to say.
Warnings check(const Config& config);

// The algorithm alone: other step sizes on a problem that is already loaded.
template <class T>
RunFactory<T> configured_algorithm(const Config& config, const Spectrum& graph, Warnings& warnings);

// `check`, then the data.
template <class T>
Prepared<T> prepare(const Config& config, const PrepareOptions& options);

extern template Prepared<float> prepare<float>(const Config&, const PrepareOptions&);
extern template Prepared<double> prepare<double>(const Config&, const PrepareOptions&);

// What to lower when this config diverges: its step sizes, with their values.
std::string step_sizes(const Config& config);

}  // namespace ticopd
