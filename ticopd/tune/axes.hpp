#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"

namespace ticopd {

// Step sizes by name.
using StepSizes = std::map<std::string, double>;

// The values that a trial gives to the searched keys, by the names of their axes: numbers, words,
// true and false. A key that the chosen kind does not use has none.
using TriedValues = std::map<std::string, nlohmann::json>;

// A key to search for. [0, 1] is mapped to its range, on a logarithmic scale, or to a list of
// values.
struct SearchAxis {
  std::string name;  // its column: "alpha", "eta.c" for a schedule, "codec.bits"
  double low = 0, high = 0;
  bool closed =
      true;        // true for a range of the user: the search stays inside it. Our own may be left
  double max = 0;  // the largest value that the algorithm allows
  // of low and high, from the step sizes before it and lambda_max(L)
  std::function<double(const StepSizes& before, double lambda_max)> unit = {};
  bool whole = false;
  bool inverse = false;  // a larger value means a shorter step

  std::string key = {};  // in the config: "algorithm.alpha"
  std::vector<nlohmann::json> listed = {};
  bool ordered = false;  // `listed` has numbers, in ascending order

  // The name under which later units find this value, divided by `divisor`: a schedule counts with
  // its value in the first round.
  std::string counts_as = {};
  std::function<double(const StepSizes& before)> divisor = {};
};

// The axes that the headers declare and [tune.search] asks for.
struct SearchAxes {
  std::vector<SearchAxis> axes;  // the algorithm's first
  nlohmann::json tree;  // the config with the values to keep, and any values for the others
  StepSizes kept;
};

// ConfigError if tune.search is wrong; it names tune.search.KEY.
SearchAxes read_axes(const Config& config);

}  // namespace ticopd
