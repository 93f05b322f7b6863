#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/mixing.hpp"

namespace ticopd {

// A parameter to search for: [0, 1] is mapped to its range, on a logarithmic scale.
struct SearchAxis {
  std::string name;
  double low, high;
  bool closed;  // true for a range of the user: the search stays inside it. Our own may be left
  double max;   // the largest value that the algorithm allows
  std::function<double(const std::map<std::string, double>& before)> unit;  // of low, high
  bool whole = false;
  bool inverse = false;  // a larger value means a shorter step
};

// Step sizes by name.
using StepSizes = std::map<std::string, double>;

// The search space: the step sizes that the algorithm requires, in the ranges of its header.
// [tune.search] may give a parameter another range or fix its value.
class Space {
 public:
  // ConfigError if tune.search is wrong; it names tune.search.KEY.
  Space(const Config& config, const Spectrum& graph);

  std::span<const SearchAxis> axes() const { return axes_; }

  // The step sizes at a point, rounded to four digits, so that the tried value equals the written
  // one. A coordinate outside [0, 1] gives a value outside the range.
  StepSizes at(std::span<const double> point) const;
  // Moves a point that lies beyond the allowed range to its edge. Returns true if the algorithm
  // accepts these step sizes.
  bool admit(std::span<double> point) const;

  // The config with these step sizes.
  Config with(const StepSizes& values) const;

 private:
  Config config_;
  Spectrum graph_;
  std::vector<SearchAxis> axes_;
  StepSizes kept_;
};

}  // namespace ticopd
