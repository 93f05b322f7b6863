#pragma once

#include <array>
#include <cstdint>
#include <string>

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
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"

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

template <class A>
constexpr auto flags_of() {
  if constexpr (requires { A::flags(); })
    return A::flags();
  else
    return std::array<Flag<A>, 0>{};
}

template <class A>
constexpr auto choices_of() {
  if constexpr (requires { A::choices(); })
    return A::choices();
  else
    return std::array<Choice<A>, 0>{};
}

// Throws ConfigError naming the key unless the parameter is within its range.
void check_range(const std::string& key, const Schedule& s, const Range& range);

// The parameters as the options say.
template <class A>
A configured(const AlgorithmOptions& options) {
  A params;
  for (const auto& p : A::parameters()) {
    const std::string key = "algorithm." + std::string(p.name);
    if (const auto given = options.parameters.find(std::string(p.name));
        given != options.parameters.end()) {
      check_range(key, given->second, p.range);
      params.*p.member = given->second;
    } else if (!(params.*p.member).is_set() && p.derived.empty()) {
      throw ConfigError(key + " (" + std::string(p.help) + ") is required for " + options.name +
                        ": no value of it suits every problem");
    }
  }
  for (const auto& f : flags_of<A>())
    if (const auto given = options.flags.find(std::string(f.name)); given != options.flags.end())
      params.*f.member = given->second;
  for (const auto& c : choices_of<A>()) {
    const auto given = options.words.find(std::string(c.name));
    if (given == options.words.end()) continue;
    const auto word = std::find(c.words.begin(), c.words.end(), given->second);
    if (word == c.words.end())
      throw ConfigError(not_allowed("algorithm." + given->first, given->second, c.words));
    params.*c.member = *word;
  }
  return params;
}

// And with all that follows from the graph and from how long it will run.
template <class A>
A resolved(const AlgorithmOptions& options, const Spectrum& graph, Warnings& warnings,
           std::uint32_t iterations) {
  A params = configured<A>(options);
  if constexpr (requires { params.plan(iterations); }) params.plan(iterations);
  if constexpr (requires { params.resolve(graph, warnings); }) params.resolve(graph, warnings);
  return params;
}

// use.template operator()<A>() for the algorithm A of that name.
template <class Use, class... A>
void with_algorithm(Algorithms<A...>, std::string_view name, Use use) {
  (void)((name == A::name && (use.template operator()<A>(), true)) || ...);
}

}  // namespace ticopd
