#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/error.hpp"
#include "ticopd/graph/link_schedule.hpp"
#include "ticopd/graph/mixing.hpp"

// Checks that an algorithm, its parameters, its codec and its graph are compatible, and derives the
// parameters that follow from graph and length. Both ways to a run use it: a config (table.hpp,
// experiment/prepare.cpp), and solve() with a struct.
namespace ticopd {

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

// Throws ConfigError naming a parameter that is missing or out of its range, or a choice that is
// not one of the allowed words.
template <class A>
void check_parameters(A& params) {
  for (const auto& p : A::parameters()) {
    const std::string key = "algorithm." + std::string(p.name);
    if ((params.*p.member).is_set())
      check_range(key, params.*p.member, p.range);
    else if (p.derived.empty())
      throw ConfigError(key + " (" + std::string(p.help) + ") is required for " +
                        std::string(A::name) + ": no value of it suits every problem");
  }
  for (const auto& c : choices_of<A>()) {
    const auto word = std::find(c.words.begin(), c.words.end(), params.*c.member);
    if (word == c.words.end())
      throw ConfigError(not_allowed("algorithm." + std::string(c.name), params.*c.member, c.words));
    params.*c.member = *word;  // which outlives the string that was given
  }
}

// The requirements of an algorithm on graph and codec.
struct AlgorithmNeeds {
  bool centre = false;       // agent 0 must be everyone's neighbour
  bool fixed_graph = false;     // needs every link in every round
  bool unbiased_codec = false;  // E Q(v) = v, or it may diverge or end elsewhere
  std::optional<CodecOptions> codec = {};  // instead of the config's
};

// The parameters that are not given and follow from the number of rounds. A run that has one cannot
// be made longer.
template <class A>
std::vector<std::string_view> parameters_of_length(const A& params) {
  std::vector<std::string_view> names;
  if constexpr (requires(A planned) { planned.plan(1u); }) {
    A planned = params;
    planned.plan(1);
    for (const auto& p : A::parameters())
      if (!(params.*p.member).is_set() && (planned.*p.member).is_set()) names.push_back(p.name);
  }
  return names;
}

template <class A>
AlgorithmNeeds needs_of(const A& params) {
  AlgorithmNeeds needs;
  if constexpr (requires { params.needs_centre(); }) needs.centre = params.needs_centre();
  if constexpr (requires { params.codec(); }) needs.codec = params.codec();
  needs.fixed_graph = requires { A::fixed_graph; };
  needs.unbiased_codec = requires { A::needs_unbiased_codec; };
  return needs;
}

template <class A>
inline constexpr bool is_uncompressed = requires { A::uncompressed; };
template <class A>
inline constexpr bool has_own_codec = requires(const A& params) { params.codec(); };

// Throws ConfigError if the algorithm cannot run on this graph, or not with links that come and go.
void check_graph(std::string_view algorithm, const AlgorithmNeeds& needs, const Graph& graph,
                 const LinkSchedule& links);

// Called for a lossy codec: throws ConfigError if the algorithm sends its model uncompressed, or
// brings its own codec. `key` is the key that chose the codec, `given` its value.
void check_lossy_codec(std::string_view algorithm, bool uncompressed, bool own_codec,
                       std::string_view key, std::string_view given);

// Warns of a biased codec for an algorithm that needs an unbiased one, and names the key to change;
// empty if they suit each other. `options` may be null, for a codec of the user's own.
std::string biased_codec(std::string_view algorithm, const AlgorithmNeeds& needs,
                         const ErrorBound& bound, const CodecOptions* options);

template <class A>
concept TakesFromGraph = requires(A params, const Spectrum& graph, Warnings& warnings) {
  params.resolve(graph, warnings);
};

// Fills in the parameters that follow from the number of rounds, then those that follow from the
// graph. The given ones must have been checked.
template <class A>
void derive_parameters(A& params, const Spectrum& graph, std::uint32_t iterations, Warnings& warnings) {
  if constexpr (requires { params.plan(iterations); }) params.plan(iterations);
  if constexpr (TakesFromGraph<A>) params.resolve(graph, warnings);
}

}  // namespace ticopd
