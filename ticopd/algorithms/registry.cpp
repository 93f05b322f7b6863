#include "ticopd/algorithms/registry.hpp"

#include <cstdio>

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

}  // namespace

static std::string number(double v) {
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
  with_algorithm(All{}, options.name, [&]<class A>() { needs = needs_of<A>(options); });
  return needs;
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
