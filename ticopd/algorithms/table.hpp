#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_gossip.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/deepsqueeze.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/algorithms/dgd_quantized.hpp"
#include "ticopd/algorithms/docom.hpp"
#include "ticopd/algorithms/extra.hpp"
#include "ticopd/algorithms/gradient_tracking.hpp"
#include "ticopd/algorithms/lead.hpp"
#include "ticopd/algorithms/local_sgd.hpp"
#include "ticopd/algorithms/magnusson.hpp"
#include "ticopd/algorithms/nids.hpp"
#include "ticopd/algorithms/primal_dual.hpp"
#include "ticopd/algorithms/prox_gpda.hpp"
#include "ticopd/algorithms/prox_pda_perturbed.hpp"
#include "ticopd/algorithms/qdgd.hpp"
#include "ticopd/algorithms/qsparse_local_sgd.hpp"
#include "ticopd/algorithms/sparq_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/algorithms/fit.hpp"
#include "ticopd/algorithms/registry.hpp"

namespace ticopd {

template <class... A>
struct Algorithms {};

// The table: one line per algorithm. registry.cpp makes runs on the CPU of it, cuda/registry.cu runs
// on a GPU.
using All = Algorithms<TiCoPD,
                       ChocoSGD,
                       CpSGD,
                       DefATC,
                       BEER,
                       DGD,
                       EXTRA,
                       GradientTracking,
                       PrimalDual,
                       ProxGPDA,
                       ProxPdaPerturbed,
                       NIDS,
                       LEAD,
                       DgdQuantized,
                       DoCoM,
                       QDGD,
                       SparqSGD,
                       LocalSGD,
                       QsparseLocalSGD,
                       ChocoGossip,
                       DeepSqueeze,
                       Magnusson>;

// The parameters as the options say.
template <class A>
A configured(const AlgorithmOptions& options) {
  A params;
  const auto take = [](auto& member, const auto& given, std::string_view name) {
    if (const auto at = given.find(std::string(name)); at != given.end()) member = at->second;
  };
  for (const auto& p : A::parameters()) take(params.*p.member, options.parameters, p.name);
  for (const auto& f : flags_of<A>()) take(params.*f.member, options.flags, f.name);
  for (const auto& c : choices_of<A>()) take(params.*c.member, options.words, c.name);
  check_parameters(params);
  return params;
}

// And with all that follows from the graph and from how long it will run.
template <class A>
A resolved(const AlgorithmOptions& options, const Spectrum& graph, Warnings& warnings,
           std::uint32_t iterations) {
  A params = configured<A>(options);
  settle(params, graph, iterations, warnings);
  return params;
}

// use.template operator()<A>() for the algorithm A of that name.
template <class Use, class... A>
void with_algorithm(Algorithms<A...>, std::string_view name, Use use) {
  (void)((name == A::name && (use.template operator()<A>(), true)) || ...);
}

}  // namespace ticopd
