#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/error.hpp"
#include "ticopd/graph/link_schedule.hpp"
#include "ticopd/graph/mixing.hpp"

// Whether an algorithm can run as it is asked to, and what it takes from where it runs. Both ways
// to a run come through here: a config (table.hpp, experiment/prepare.cpp), and solve() with a
// struct.
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

// Throws ConfigError naming a parameter that is missing or out of its range, or a word that is not
// one of its few.
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

// What an algorithm asks of its surroundings.
struct AlgorithmNeeds {
  bool centre = false;       // agent 0 must be everyone's neighbour
  bool fixed_graph = false;  // cannot do without a link
  std::optional<CodecOptions> codec = {};  // instead of the config's
};

template <class A>
AlgorithmNeeds needs_of(const A& params) {
  AlgorithmNeeds needs;
  if constexpr (requires { params.needs_centre(); }) needs.centre = params.needs_centre();
  if constexpr (requires { params.codec(); }) needs.codec = params.codec();
  needs.fixed_graph = requires { A::fixed_graph; };
  return needs;
}

template <class A>
inline constexpr bool is_uncompressed = requires { A::uncompressed; };
template <class A>
inline constexpr bool has_own_codec = requires(const A& params) { params.codec(); };

// Throws ConfigError where the graph is not what the algorithm needs, or its links do not stay.
void check_graph(std::string_view algorithm, const AlgorithmNeeds& needs, const Graph& graph,
                 const LinkSchedule& links);

// Of a codec that loses something: throws ConfigError for an algorithm that sends its model as it
// is, or brings a codec of its own. `key` says where the codec was chosen, `given` which it is.
void check_lossy_codec(std::string_view algorithm, bool uncompressed, bool own_codec,
                       std::string_view key, std::string_view given);

template <class A>
concept TakesFromGraph = requires(A params, const Spectrum& graph, Warnings& warnings) {
  params.resolve(graph, warnings);
};

// Parameters that were checked get what follows from how long it will run, and then from the graph.
template <class A>
void derive_parameters(A& params, const Spectrum& graph, std::uint32_t iterations, Warnings& warnings) {
  if constexpr (requires { params.plan(iterations); }) params.plan(iterations);
  if constexpr (TakesFromGraph<A>) params.resolve(graph, warnings);
}

}  // namespace ticopd
