#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/experiment/claim.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// A run's folder: metrics.csv, run.json, final.npy, checkpoint.safetensors. Every file appears
// whole, under a temporary name first, so a reader (or a crash) never sees half of one.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path, MetricColumns columns = metric_columns())
      : path_(std::move(path)), columns_(std::move(columns)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path checkpoint() const { return path_ / "checkpoint.safetensors"; }

  // UsageError if the folder holds anything and may not be resumed. Creates nothing.
  void refuse_if_taken(bool resume) const;
  // The same, and then it is this run's alone.
  void claim(bool resume);
  void create();

  // run.json of an earlier run; empty where there is none.
  std::optional<nlohmann::json> read_summary() const;
  // FormatError if run.json is not one.
  static nlohmann::json require_summary(const std::filesystem::path& folder);

  // Keeps what an earlier part of the run logged up to this round, and not what it logged after it,
  // whole or cut. FormatError unless all up to `last_logged` is there.
  void keep_metrics(std::uint32_t up_to_round, std::uint32_t last_logged);
  void add_metrics(const Metrics& m) { add_metrics(to_csv(m, columns_)); }
  void add_metrics(std::string line);
  // Files are rewritten whole, so at most once a second unless `now`.
  void publish_metrics(bool now);
  // After a run that failed: what was logged is kept. If that is nothing, a folder that was made
  // for it goes: the next attempt can have its name.
  void abandon();

  void write_summary(const nlohmann::json& summary) const;

 private:
  std::filesystem::path path_;
  MetricColumns columns_;  // of metrics.csv
  std::vector<std::string> lines_;
  std::optional<FolderClaim> claim_;
  double published_at_ = 0;
};

}  // namespace ticopd
