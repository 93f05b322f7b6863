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

// A parameter that is searched for: a log range, mapped from [0, 1].
struct SearchAxis {
  std::string name;
  double low, high;
  bool closed;  // the user's range: the search stays inside. Our own is only where it begins
  double max;   // what the algorithm allows
  std::function<double(const std::map<std::string, double>& before)> unit;  // of low and high
  bool whole = false;
  bool inverse = false;  // the larger it is, the shorter the step
};

// Step sizes by name.
using StepSizes = std::map<std::string, double>;

// What is searched: the step sizes that the algorithm requires, in the ranges of its header, unless
// [tune.search] gives a parameter another range, or one value to be kept.
class Space {
 public:
  // ConfigError naming tune.search.KEY.
  Space(const Config& config, const Spectrum& graph);

  std::span<const SearchAxis> axes() const { return axes_; }

  // The step sizes at a point, to four digits: what is tried is what is written down. A coordinate
  // beyond [0, 1] lies beyond the range.
  StepSizes at(std::span<const double> point) const;
  // Moves the point to the edge of what may be searched if it is beyond, and says whether the
  // algorithm takes these step sizes.
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
