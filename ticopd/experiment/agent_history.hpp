#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/run/metrics.hpp"

namespace ticopd {

// One metric of every agent at the logged rounds, as the page shows it.
struct AgentRows {
  std::string metric;  // loss, or distance2 where the run did not measure every agent's loss
  std::vector<std::uint32_t> iterations;
  std::vector<std::vector<double>> values;  // by row and agent
};

// agents.csv of a run: its page colours the network over time by it. Nothing else reads the file,
// so a run that is large, or whose file is gone, goes on without it.
class AgentHistory {
 public:
  // Cells beyond which no file is kept: it stays below about 200 KB, and costs no time to write.
  static constexpr std::size_t most_cells = 20'000;

  void add(const Metrics& m);
  // Takes over what an earlier part of the run wrote up to this round.
  void keep(const std::filesystem::path& folder, std::uint32_t up_to_round);
  // Writes the file if it lacks a row, or removes it if the history has become too large.
  void write(const std::filesystem::path& folder);

  // Empty if there is no such file, or if it is none of ours.
  static std::optional<AgentRows> read(const std::filesystem::path& folder);

 private:
  AgentRows rows_;
  bool too_large_ = false;
  bool unwritten_ = true;  // also true at first: an earlier run may have left a file
};

}  // namespace ticopd
