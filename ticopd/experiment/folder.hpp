#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/experiment/agent_history.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// Reads and writes a run's folder: metrics.csv, agents.csv, run.json, final.npy,
// checkpoint.safetensors. Every file is written under a temporary name and then renamed, so a
// reader never sees half a file, not even after a crash.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path, MetricColumns columns = metric_columns())
      : path_(std::move(path)), columns_(std::move(columns)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint.safetensors"; }

  // UsageError if the folder holds files and cannot be resumed. Creates nothing.
  void refuse_if_taken(bool resume) const;
  // Does the same check, then locks the folder for this run.
  void claim(bool resume);
  void create();

  // run.json of an earlier run; empty if there is none.
  std::optional<nlohmann::json> read_summary() const;
  // Reads run.json. FormatError if it is not a run summary.
  static nlohmann::json require_summary(const std::filesystem::path& folder);

  // The same for a run that is finished; FormatError if it is not, or if a field is missing.
  static nlohmann::json require_finished(const std::filesystem::path& folder);

  // Keeps the metrics that an earlier part of the run logged up to this round. Drops later rows,
  // whole or cut off. FormatError unless all rows up to `last_logged` are there, and every cell of
  // them is a number or empty. Writes nothing.
  void keep_metrics(std::uint32_t up_to_round, std::optional<std::uint32_t> last_logged);
  // The rows of metrics.csv so far, without its header.
  const std::vector<std::string>& metric_lines() const { return lines_; }
  void set_metrics(std::vector<std::string> lines) { lines_ = std::move(lines); }
  void add_metrics(const Metrics& m);
  void add_metrics(std::string line);
  // Rewrites the whole file, if it lacks a row: at once, or else at most once a second, and less
  // often where writing is slow. Called after every round, so that a row is visible within a second.
  // `now` also writes the history of the agents.
  void publish_metrics(bool now);
  // Called after a run failed. Keeps the logged metrics. If there are none, removes the folder that
  // was made for the run, so that the next attempt can use its name, and returns false.
  bool abandon();

  void write_summary(const nlohmann::json& summary) const;
  // Removes the models of a finished run that goes on: they are not those of its end any more.
  void forget_final() const;

 private:
  bool is_ours() const;  // it holds a run by ticopd

  std::filesystem::path path_;
  MetricColumns columns_;  // of metrics.csv
  std::vector<std::string> lines_;
  AgentHistory agents_;
  std::optional<FolderClaim> claim_;
  bool unpublished_ = false;  // a row that the file lacks
  double publish_at_ = 0;     // not earlier, unless asked to
};

}  // namespace ticopd
