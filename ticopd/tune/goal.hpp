#pragma once

#include <span>
#include <string>

#include "ticopd/run/metrics.hpp"

namespace ticopd {

// The goal of a search: a metric at the end of a full run, or the cost until a metric reaches a
// target ("bits_to:accuracy_min=0.95").
struct Goal {
  enum class Kind { at_end, bits_to, iterations_to };

  Kind kind = Kind::at_end;
  std::string text;    // as it was given; a column of trials.csv
  std::string metric;  // what is measured
  double target = 0;   // not for at_end

  // ConfigError naming tune.metric. An empty text is the loss that this level measures.
  static Goal parse(std::string text, MetricLevel level);

  bool has_target() const { return kind != Kind::at_end; }
  bool reached(const Metrics& m) const;  // the target
  double cost_of(const Metrics& m) const;

  // The score of a trial, lower is better, from what it cost (or its metric at the end) and the
  // metric at the end of its rounds. An infinite cost: it did not reach the target, and ranks
  // behind all that did, by how close it came. Infinite if a run of it diverged (nan).
  double score(double value, double at_end) const;
};

// The middle value; the mean of the two in the middle. nan if one of them is.
double median(std::span<const double> values);

}  // namespace ticopd
