#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/keys.hpp"

// `seeds` and [sweep] of a file of several runs.
namespace ticopd {

// The most runs that one comparison may ask for.
inline constexpr double most_runs = 10'000;

// The values of each swept key. A combination has one value of each: every one with every other
// (the product), or the first with the first (`mode = "zip"`).
struct Sweep {
  struct Axis {
    std::string key;  // dotted: "codec.bits"
    std::vector<nlohmann::json> values;
  };
  std::vector<Axis> axes;  // by name of the key; none: one combination, of nothing
  bool zip = false;

  double size() const;  // the number of combinations, which may be too many to count them
  // One value of each axis; the last axis changes fastest.
  std::vector<nlohmann::json> combination(std::size_t number) const;
};

// The table with `"codec.bits" = [1]` as `codec.bits = [1]`: --set replaces it in this form.
nlohmann::json sweep_in_tables(const nlohmann::json& table);

// ConfigError for a key that no config has or that no run may differ in, an empty list, a value
// given twice, and zipped lists of different length. Null: no sweep.
Sweep read_sweep(const nlohmann::json& table, std::span<const KeyInfo> keys);

// `seeds = 5`, counted from `first`, or a list. Empty where `given` is null. ConfigError for none,
// too many, one that is given twice, or is no seed.
std::vector<std::uint64_t> read_seeds(const nlohmann::json& given, std::uint64_t first);

// Puts one combination into the tree of a run. Keys that choose a kind go first, as an entry of
// [[run]] would choose it. A key that the chosen kinds do not use is left out. Returns the others
// with their values.
nlohmann::json sweep_into(nlohmann::json& tree, const Sweep& sweep, std::size_t number,
                          std::span<const KeyInfo> keys);

// "codec.bits = 4, algorithm.alpha = 0.1"
std::string swept_in_words(const nlohmann::json& swept);

}  // namespace ticopd
