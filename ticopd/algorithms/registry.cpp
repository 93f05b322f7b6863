#include "ticopd/algorithms/registry.hpp"

#include "ticopd/algorithms/table.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

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
Table<AlgorithmInfo> table_of(Algorithms<A...>) {
  return {"algorithm.name", {algorithm_info<A>()...}};
}

}  // namespace

Table<AlgorithmInfo>& algorithm_table() {
  static Table<AlgorithmInfo> table = table_of(All{});
  return table;
}

const AlgorithmInfo& algorithm_info(std::string_view name) {
  return algorithm_table().at(name);
}

AlgorithmNeeds algorithm_needs(const AlgorithmOptions& options) {
  const AlgorithmInfo& info = algorithm_info(options.name);
  refuse_unknown(options, info);
  return info.needs(options);
}

std::vector<std::string_view> parameters_of_length(const AlgorithmOptions& options) {
  const AlgorithmInfo& info = algorithm_info(options.name);
  refuse_unknown(options, info);
  return info.of_length(options);
}

template <class T>
RunFactory<T> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                             Warnings& warnings, std::uint32_t iterations) {
  const AlgorithmInfo& info = algorithm_info(options.name);
  refuse_unknown(options, info);
  if constexpr (sizeof(T) == 4)
    return info.make_float(options, graph, warnings, iterations);
  else
    return info.make_double(options, graph, warnings, iterations);
}

template RunFactory<float> make_algorithm<float>(const AlgorithmOptions&, const Spectrum&,
                                                 Warnings&, std::uint32_t);
template RunFactory<double> make_algorithm<double>(const AlgorithmOptions&, const Spectrum&,
                                                   Warnings&, std::uint32_t);

}  // namespace ticopd
