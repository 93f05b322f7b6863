#include "ticopd/algorithms/registry.hpp"

#include <cstdio>

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
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class... A>
struct Algorithms {};

// The table: one line per algorithm.
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

template <class A>
AlgorithmInfo describe() {
  AlgorithmInfo info{.name = A::name,
                     .paper = A::paper,
                     .uncompressed = requires { A::uncompressed; },
                     .own_codec = requires(A a) { a.codec(); },
                     .parameters = {},
                     .flags = {},
                     .choices = {}};
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

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

void check_range(const std::string& key, const Schedule& s, const Range& range) {
  if (range.constant && !s.is_constant())
    throw ConfigError(key + ": allowed is one number, and no schedule");
  const double v = s(1);
  if (v <= range.high && (range.low_allowed ? v >= range.low : v > range.low) &&
      (!range.whole || v == std::floor(v)))
    return;
  if (range.whole)
    throw ConfigError(key + " = " + number(v) + ": allowed is a whole number from " +
                      number(range.low) + " to " + number(range.high));
  const std::string low = range.low_allowed ? "at least " : "above ";
  throw ConfigError(key + " = " + number(v) + ": allowed is " + low + number(range.low) +
                    (std::isinf(range.high) ? "" : ", at most " + number(range.high)));
}

std::vector<std::string_view> keys(const AlgorithmInfo& info) {
  std::vector<std::string_view> names{"name"};
  for (const auto& p : info.parameters) names.push_back(p.name);
  for (const auto& f : info.flags) names.push_back(f.name);
  for (const auto& c : info.choices) names.push_back(c.name);
  return names;
}

void refuse_unknown(const AlgorithmOptions& options, const AlgorithmInfo& info) {
  const std::vector<std::string_view> known = keys(info);
  const auto check = [&](const std::string& key) {
    if (std::find(known.begin(), known.end(), key) != known.end()) return;
    std::string text = "algorithm." + key + ": " + options.name + " has no such parameter; it has ";
    for (std::size_t i = 1; i < known.size(); ++i) {
      if (i > 1) text += ", ";
      text += known[i];
    }
    if (const std::string_view word = nearest(key, known); !word.empty())
      text += "; did you mean \"" + std::string(word) + "\"?";
    throw ConfigError(text);
  };
  for (const auto& [key, value] : options.parameters) check(key);
  for (const auto& [key, value] : options.flags) check(key);
  for (const auto& [key, value] : options.words) check(key);
}

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

template <class T, class A>
RunFactory<T> build(const AlgorithmOptions& options, const Spectrum& graph, Warnings& warnings,
                    std::uint32_t iterations) {
  A params = configured<A>(options);
  if constexpr (requires { params.plan(iterations); }) params.plan(iterations);
  if constexpr (requires { params.resolve(graph, warnings); }) params.resolve(graph, warnings);
  return run_factory<T>(params);
}

template <class A>
AlgorithmNeeds needs_of(const AlgorithmOptions& options) {
  const A params = configured<A>(options);
  AlgorithmNeeds needs;
  if constexpr (requires { params.needs_centre(); }) needs.centre = params.needs_centre();
  if constexpr (requires { params.codec(); }) needs.codec = params.codec();
  needs.fixed_graph = requires { A::fixed_graph; };
  return needs;
}

template <class... A>
std::vector<AlgorithmInfo> describe_all(Algorithms<A...>) {
  return {describe<A>()...};
}

template <class T, class... A>
RunFactory<T> build_named(Algorithms<A...>, const AlgorithmOptions& options, const Spectrum& graph,
                          Warnings& warnings, std::uint32_t iterations) {
  RunFactory<T> made;
  const auto make = [&]<class Named>() {
    if (options.name == Named::name) made = build<T, Named>(options, graph, warnings, iterations);
  };
  (make.template operator()<A>(), ...);
  return made;
}

template <class... A>
AlgorithmNeeds needs_named(Algorithms<A...>, const AlgorithmOptions& options) {
  AlgorithmNeeds needs;
  (void)((options.name == A::name && (needs = needs_of<A>(options), true)) || ...);
  return needs;
}

}  // namespace

std::span<const AlgorithmInfo> algorithm_table() {
  static const std::vector<AlgorithmInfo> table = describe_all(All{});
  return table;
}

const AlgorithmInfo& algorithm_info(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AlgorithmInfo& info : algorithm_table()) {
    if (info.name == name) return info;
    names.push_back(info.name);
  }
  throw ConfigError(not_allowed("algorithm.name", name, names));
}

AlgorithmNeeds algorithm_needs(const AlgorithmOptions& options) {
  refuse_unknown(options, algorithm_info(options.name));
  return needs_named(All{}, options);
}

template <class T>
RunFactory<T> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                             Warnings& warnings, std::uint32_t iterations) {
  refuse_unknown(options, algorithm_info(options.name));
  return build_named<T>(All{}, options, graph, warnings, iterations);
}

template RunFactory<float> make_algorithm<float>(const AlgorithmOptions&, const Spectrum&,
                                                 Warnings&, std::uint32_t);
template RunFactory<double> make_algorithm<double>(const AlgorithmOptions&, const Spectrum&,
                                                   Warnings&, std::uint32_t);

}  // namespace ticopd
