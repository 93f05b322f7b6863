#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ticopd/algorithms/all.hpp"
#include "ticopd/algorithms/compatibility.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/algorithms/run_factory.hpp"

// Makes an algorithm from options, and its entry of the table.
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

// The unit of a search range for callers that know parameters by name.
template <class A>
decltype(ParameterInfo::unit) unit_of(const Parameter<A>& parameter) {
  const auto unit = parameter.search.unit;
  if (!unit) return [](const auto&, double) { return 1.0; };
  return [unit](const std::map<std::string, double>& before, double lambda_max) {
    A params;
    for (const auto& p : A::parameters())
      if (const auto given = before.find(std::string(p.name)); given != before.end())
        params.*p.member = given->second;
    return unit(params, lambda_max);
  };
}

// The entry of an algorithm, which is compiled for both scalar types wherever this is called.
template <class A>
AlgorithmInfo algorithm_info() {
  AlgorithmInfo info{.name = A::name,
                     .paper = A::paper,
                     .uncompressed = is_uncompressed<A>,
                     .own_codec = has_own_codec<A>,
                     .parameters = {},
                     .flags = {},
                     .choices = {},
                     .on_devices = in_table<A>(All{}),
                     .needs = [](const AlgorithmOptions& options) {
                       return needs_of(configured<A>(options));
                     },
                     .of_length = [](const AlgorithmOptions& options) {
                       return parameters_of_length(configured<A>(options));
                     },
                     .make_float = [](const AlgorithmOptions& options, const Spectrum& graph,
                                      Warnings& warnings, std::uint32_t iterations) {
                       return run_factory<float>(resolved<A>(options, graph, warnings, iterations));
                     },
                     .make_double = [](const AlgorithmOptions& options, const Spectrum& graph,
                                       Warnings& warnings, std::uint32_t iterations) {
                       return run_factory<double>(
                           resolved<A>(options, graph, warnings, iterations));
                     }};
  const A defaults;
  for (const auto& p : A::parameters()) {
    const Schedule& s = defaults.*p.member;
    info.parameters.push_back({p.name, p.help, p.derived, p.range,
                               !s.is_set() && p.derived.empty(), s(1), p.search.low, p.search.high,
                               unit_of(p), p.inverse});
  }
  for (const auto& f : flags_of<A>()) info.flags.push_back({f.name, f.help, defaults.*f.member});
  for (const auto& c : choices_of<A>())
    info.choices.push_back({c.name, c.help, c.words, defaults.*c.member});
  return info;
}

// use.template operator()<A>() for the algorithm A of that name.
template <class Use, class... A>
void with_algorithm(Algorithms<A...>, std::string_view name, Use use) {
  (void)((name == A::name && (use.template operator()<A>(), true)) || ...);
}

}  // namespace ticopd
