#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/algorithms/compatibility.hpp"
#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

// The options of an algorithm in a config: step sizes and flags by name.
struct AlgorithmOptions {
  std::string name = "ticopd";
  std::map<std::string, Schedule> parameters;
  std::map<std::string, bool> flags;
  std::map<std::string, std::string> words = {};
};

struct ParameterInfo {
  std::string_view name, help, derived;
  Range range;
  bool required;
  double value;  // the default, where there is one

  // The search range of tuning; `unit` gives its unit from the parameters before it. high = 0: not
  // searched.
  double search_low = 0, search_high = 0;
  std::function<double(const std::map<std::string, double>& before, double lambda_max)> unit = {};
  bool inverse = false;  // the larger it is, the shorter the step
};

struct FlagInfo {
  std::string_view name, help;
  bool value;
};

struct ChoiceInfo {
  std::string_view name, help;
  std::array<std::string_view, 2> words;
  std::string_view value;
};

template <class T>
using MakeAlgorithm = RunFactory<T> (*)(const AlgorithmOptions&, const Spectrum& graph, Warnings&,
                                        std::uint32_t iterations);

// An entry of the table of algorithms. algorithm_info<A>() in table.hpp makes it of the struct A.
struct AlgorithmInfo {
  std::string_view name, paper;
  bool uncompressed;  // refuses lossy codecs
  bool own_codec;     // brings its codec itself
  std::vector<ParameterInfo> parameters;
  std::vector<FlagInfo> flags;
  std::vector<ChoiceInfo> choices;
  bool on_devices = false;  // the library has device code for it
  AlgorithmNeeds (*needs)(const AlgorithmOptions&) = nullptr;
  // Parameters that are not given and follow from the number of rounds.
  std::vector<std::string_view> (*of_length)(const AlgorithmOptions&) = nullptr;
  MakeAlgorithm<float> make_float = nullptr;
  MakeAlgorithm<double> make_double = nullptr;
};

// The algorithms of all.hpp, and those that a program or a plug-in added.
Table<AlgorithmInfo>& algorithm_table();
const AlgorithmInfo& algorithm_info(std::string_view name);  // ConfigError naming algorithm.name

// The requirements of an algorithm with these options on graph and codec.
AlgorithmNeeds algorithm_needs(const AlgorithmOptions& options);

// Its parameters that follow from the number of rounds (compatibility.hpp).
std::vector<std::string_view> parameters_of_length(const AlgorithmOptions& options);

// Checks names and ranges (ConfigError naming `algorithm.KEY`) and fills in parameters that follow
// from the graph. `iterations` is for methods whose steps follow from the number of rounds.
template <class T>
RunFactory<T> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                             Warnings& warnings,
                             std::uint32_t iterations = default_iterations);

extern template RunFactory<float> make_algorithm<float>(const AlgorithmOptions&, const Spectrum&,
                                                        Warnings&, std::uint32_t);
extern template RunFactory<double> make_algorithm<double>(const AlgorithmOptions&, const Spectrum&,
                                                          Warnings&, std::uint32_t);

}  // namespace ticopd
