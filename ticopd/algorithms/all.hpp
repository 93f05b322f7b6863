#pragma once

#include <array>
#include <cstddef>
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

namespace ticopd {

template <class... A>
struct Algorithms {};

// The table: one line per algorithm. registry.cpp makes CPU runs from it, cuda/registry.cu GPU
// runs; a program that includes ticopd.hpp has them all.
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

template <class... A>
constexpr bool names_differ(Algorithms<A...>) {
  const std::array<std::string_view, sizeof...(A)> names{A::name...};
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  return true;
}
static_assert(names_differ(All{}), "of two algorithms with one name the second would never run");

}  // namespace ticopd
