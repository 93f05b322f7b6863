#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/tune/axes.hpp"

namespace ticopd {

// The search space: the step sizes that the algorithm requires, in the ranges of its header, and
// what [tune.search] adds or changes (axes.hpp). It has no points that the algorithm refuses, and
// none with a biased codec for an algorithm that needs an unbiased one.
class Space {
 public:
  // ConfigError if tune.search is wrong; it names tune.search.KEY.
  Space(const Config& config, const Spectrum& graph);
  explicit Space(const Config& config);
  Space(Space&&) noexcept;
  ~Space();

  std::span<const SearchAxis> axes() const { return axes_; }
  bool changes_codec() const { return searches("codec."); }
  bool changes_graph() const { return searches("graph."); }

  // The values at a point. Numbers are rounded to four digits, so that the tried value equals the
  // written one. A coordinate outside [0, 1] gives a value outside the range.
  TriedValues at(std::span<const double> point) const;
  // Moves a point that lies beyond the allowed range to its edge, and beside a listed value to that
  // value. Returns true if the algorithm accepts these values.
  bool admit(std::span<double> point) const;

  // The config with these values; without any, it has the values to keep.
  Config with(const TriedValues& values) const;
  // The config at some point that can be run. ConfigError if there is none.
  Config anywhere() const;

  // What the method's own constraints leave out, in words: `codec.kind = "top_k": ...`.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  bool searches(std::string_view section) const;
  bool unused(const SearchAxis& axis, const Config& config) const;
  Spectrum spectrum_of(const Config& config) const;
  void check_lists();

  Config config_;
  Spectrum graph_;
  std::vector<SearchAxis> axes_;
  StepSizes kept_;
  bool some_unused_ = false;  // a list chooses between kinds, and some have no use for some keys
  std::vector<std::string> left_out_;
  struct Graphs;  // spectra of those that were looked at
  std::unique_ptr<Graphs> graphs_;
};

}  // namespace ticopd
