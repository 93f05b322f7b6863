#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"

namespace ticopd {

// A run that has not logged a row yet, or has not begun. The message says which.
struct NoRowYet : FormatError {
  using FormatError::FormatError;
};

// One run folder, read back: run.json as it is, and metrics.csv as columns.
struct Series {
  using Column = std::vector<std::optional<double>>;  // an empty cell is nullopt; NaN and inf stay

  std::string label;
  // The runs of a group differ in their seed alone: its name, and what the sweep gave them.
  std::string group;
  std::uint64_t seed = 0;
  nlohmann::json swept = nlohmann::json::object();  // full key -> value
  std::filesystem::path folder;
  nlohmann::json summary;       // run.json
  std::vector<Column> columns;  // in the order of column_names(); all of the same length, >= 1

  // The metrics that the program of this run computed itself, by column.
  std::vector<std::pair<std::string, Column>> own = {};

  const Column& column(std::string_view name) const;  // ConfigError for an unknown name
  bool has(std::string_view name) const;              // the last row has a value in this column
  std::size_t rows() const { return columns.front().size(); }
  std::uint32_t last_iteration() const;

  // A value of run.json by its JSON pointer; null or an empty string if it is missing.
  const nlohmann::json& field(const char* pointer) const;
  std::string word(const char* pointer) const;

  std::string status() const;  // running, stopped, finished, interrupted, diverged
  // Says "stopped", and why, of a run that run.json calls running.
  void mark_stopped(std::string_view reason);
  // True if the status is diverged, or if the loss ever exceeded a hundred times the first one.
  bool blew_up() const;
  std::string algorithm() const;  // "ticopd"
  std::string codec() const;      // "qsgd, 8 bits"; "uncompressed"
  std::size_t dimension() const;
  // Encoded bits per coordinate and round; empty if the run made no round.
  std::optional<double> rate() const;
};

// FormatError for a folder without run.json, and for damaged metrics: another header, a line that
// is cut off, a cell that is not a number, rounds that do not ascend. The error names the file and
// the line. NoRowYet for a run that has only begun.
Series read_series(const std::filesystem::path& folder);

// The columns of metrics.csv that reports know, and those of them that say how well a run does.
std::vector<std::string_view> column_names();
std::vector<std::string_view> metric_names();
bool higher_is_better(std::string_view metric);

// The numbers, among column_names(), of the columns that a report of these runs shows: those that
// every metrics.csv has, and others if a run has them.
std::vector<std::size_t> shown_columns(std::span<const Series> runs);

// The title of an axis: "training loss, worst agent".
std::string_view metric_title(std::string_view name);

// ConfigError for an unknown metric, with the nearest known one. `key` says where it was given.
void require_metric(std::string_view key, std::string_view word);

}  // namespace ticopd
