#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ticopd/algorithms/all.hpp"
#include "ticopd/algorithms/compatibility.hpp"
#include "ticopd/algorithms/registry.hpp"

// Makes an algorithm of the table (all.hpp) from options.
namespace ticopd {

// The parameters as given by the options.
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

// The same, with everything that follows from the graph and the number of rounds.
template <class A>
A resolved(const AlgorithmOptions& options, const Spectrum& graph, Warnings& warnings,
           std::uint32_t iterations) {
  A params = configured<A>(options);
  derive_parameters(params, graph, iterations, warnings);
  return params;
}

// use.template operator()<A>() for the algorithm A of that name.
template <class Use, class... A>
void with_algorithm(Algorithms<A...>, std::string_view name, Use use) {
  (void)((name == A::name && (use.template operator()<A>(), true)) || ...);
}

}  // namespace ticopd
