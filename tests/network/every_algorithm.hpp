#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dense/problem.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/experiment/solve.hpp"

namespace ticopd::dense {

// Steps with which each algorithm stays finite on a small least-squares problem. An algorithm that
// is new in the registry's table fails here until it has a line.
inline AlgorithmOptions options_of(std::string_view name) {
  if (name == "ticopd")
    return {"ticopd", {{"alpha", 0.05}, {"theta", 1}, {"eta", 0.1}, {"gamma", 0.9}}, {}};
  if (name == "choco_sgd")
    return {"choco_sgd", {{"eta", 0.05}, {"gamma", 0.2}}, {{"warm_start", true}}};
  if (name == "cp_sgd")
    return {"cp_sgd", {{"eta", 0.05}, {"gamma", 1}, {"omega", 1}, {"alpha_x", 0.5}}, {}};
  if (name == "def_atc") return {"def_atc", {{"mu", 0.02}, {"zeta", 0.5}, {"gamma", 0.2}}, {}};
  if (name == "beer") return {"beer", {{"eta", 0.02}, {"gamma", 0.2}}, {{"warm_start", true}}};
  if (name == "dgd") return {"dgd", {{"eta", 0.05}}, {}};
  if (name == "dgd_quantized") return {"dgd_quantized", {{"eta", 0.05}}, {}};
  throw std::logic_error("tests/network/every_algorithm.hpp has no steps for " + std::string(name));
}

inline std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : algorithm_table()) names.emplace_back(info.name);
  return names;
}

inline std::vector<CodecOptions> codecs_for(const AlgorithmInfo& algorithm) {
  std::vector<CodecOptions> all(1);
  if (algorithm.uncompressed) return all;
  for (const char* kind : {"qsgd", "top_k", "rand_k", "sign"}) {
    CodecOptions o;
    o.kind = kind;
    o.bits = 4;
    o.k = 7;
    all.push_back(o);
  }
  return all;
}

template <class T>
RunFactory<T> algorithm(std::string_view name, const Graph& graph) {
  Warnings warnings;
  return make_algorithm<T>(options_of(name), spectrum(graph, Weights::metropolis), warnings);
}

}  // namespace ticopd::dense
