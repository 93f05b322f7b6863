#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ticopd/capi/conversation.hpp"
#include "ticopd/experiment/session.hpp"
#include "ticopd/objectives/external.hpp"

namespace ticopd::capi {

// What the caller said of its objective, copied.
struct Problem {
  std::size_t dimension = 0;
  int agents = 0;
  bool has_values = true;
  std::vector<std::uint64_t> samples = {};
  std::uint64_t test_samples = 0;
  std::vector<std::byte> start = {};  // in the run's precision; empty: zeros
  std::vector<std::string> fingerprints = {};
  std::vector<Segment> layout = {};
  std::vector<std::string> metrics = {};

  // ConfigError for what cannot be; `precision` is the size of a number.
  static Problem read(const tc_problem& given, std::size_t precision);
};

// The objective of the caller: every evaluation is a question. The conversation must outlive what
// is made here.
std::shared_ptr<const ExternalObjective> ask_objective(const Problem& problem,
                                                       Conversation& conversation);

// The same for the caller's metrics.
SessionMetrics ask_metrics(const Problem& problem, Conversation& conversation);

}  // namespace ticopd::capi
