#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dense/problem.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/run/solve.hpp"

namespace ticopd::dense {

// Step sizes with which each algorithm stays finite on a small least-squares problem. A new
// algorithm in the registry fails here until it gets a line.
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
  if (name == "extra") return {"extra", {{"alpha", 0.05}}, {}};
  if (name == "gradient_tracking") return {"gradient_tracking", {{"eta", 0.03}}, {}};
  if (name == "primal_dual") return {"primal_dual", {{"eta", 0.05}, {"alpha", 1}, {"beta", 1}}, {}};
  if (name == "prox_gpda") return {"prox_gpda", {{"beta", 15}}, {}};
  if (name == "prox_pda_perturbed")
    return {"prox_pda_perturbed", {{"rho", 3}, {"gamma", 0.01}}, {}};
  if (name == "nids") return {"nids", {{"alpha", 0.05}}, {}};
  if (name == "lead") return {"lead", {{"eta", 0.05}, {"alpha", 0.3}, {"gamma", 0.1}}, {}};
  if (name == "dgd_quantized") return {"dgd_quantized", {{"eta", 0.05}}, {}};
  if (name == "docom")
    return {"docom", {{"eta", 0.02}, {"gamma", 0.2}, {"beta", 0.3}}, {{"warm_start", true}}};
  if (name == "qdgd") return {"qdgd", {{"alpha", 0.2}, {"epsilon", 0.2}}, {}};
  if (name == "sparq_sgd")
    return {"sparq_sgd", {{"eta", 0.05}, {"gamma", 0.2}, {"threshold", 200}, {"period", 2}}, {}};
  if (name == "local_sgd") return {"local_sgd", {{"eta", 0.05}, {"period", 3}}, {}};
  if (name == "qsparse_local_sgd") return {"qsparse_local_sgd", {{"eta", 0.02}, {"period", 2}}, {}};
  if (name == "choco_gossip") return {"choco_gossip", {{"gamma", 0.2}}, {}};
  if (name == "deepsqueeze") return {"deepsqueeze", {{"eta", 0.05}, {"gamma", 0.05}}, {}};
  if (name == "magnusson")
    return {"magnusson",
            {{"eta", 0.05}, {"alpha", 1}, {"beta", 1}, {"r0", 4}, {"kappa", 0.95}, {"bits", 6}},
            {}};
  throw std::logic_error("tests/network/every_algorithm.hpp has no steps for " + std::string(name));
}

inline std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : algorithm_table()) names.emplace_back(info.name);
  return names;
}

// This graph, or a star if the method has a server.
inline Graph graph_for(std::string_view name, const Graph& graph) {
  return algorithm_needs(options_of(name)).centre ? star(graph.agents()) : graph;
}

// This codec, unless the method has its own or sends uncompressed rows.
inline CodecOptions codec_for(std::string_view name, const CodecOptions& codec) {
  if (algorithm_info(name).uncompressed) return {};
  return algorithm_needs(options_of(name)).codec.value_or(codec);
}

inline std::vector<CodecOptions> codecs_for(const AlgorithmInfo& algorithm) {
  std::vector<CodecOptions> all(1);
  if (algorithm.uncompressed) return all;
  if (algorithm.own_codec) return {codec_for(algorithm.name, {})};
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
