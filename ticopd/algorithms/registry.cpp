#include "ticopd/algorithms/registry.hpp"

#include "ticopd/algorithms/run_factory.hpp"
#include "ticopd/algorithms/table.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

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
                     .uncompressed = is_uncompressed<A>,
                     .own_codec = has_own_codec<A>,
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

template <class... A>
std::vector<AlgorithmInfo> describe_all(Algorithms<A...>) {
  return {describe<A>()...};
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
  AlgorithmNeeds needs;
  with_algorithm(All{}, options.name, [&]<class A>() { needs = needs_of(configured<A>(options)); });
  return needs;
}

std::vector<std::string_view> parameters_of_length(const AlgorithmOptions& options) {
  refuse_unknown(options, algorithm_info(options.name));
  std::vector<std::string_view> names;
  with_algorithm(All{}, options.name,
                 [&]<class A>() { names = parameters_of_length(configured<A>(options)); });
  return names;
}

template <class T>
RunFactory<T> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                             Warnings& warnings, std::uint32_t iterations) {
  refuse_unknown(options, algorithm_info(options.name));
  RunFactory<T> made;
  with_algorithm(All{}, options.name, [&]<class A>() {
    made = run_factory<T>(resolved<A>(options, graph, warnings, iterations));
  });
  return made;
}

template RunFactory<float> make_algorithm<float>(const AlgorithmOptions&, const Spectrum&,
                                                 Warnings&, std::uint32_t);
template RunFactory<double> make_algorithm<double>(const AlgorithmOptions&, const Spectrum&,
                                                   Warnings&, std::uint32_t);

}  // namespace ticopd
