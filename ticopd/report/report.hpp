#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/report/series.hpp"

namespace ticopd {

// A value to be reached: a loss or error from above, an accuracy from below.
struct Target {
  std::string metric;
  double value = 0;
};

struct ReportOptions {
  std::string title;
  std::string command;  // makes the runs again; empty where unknown
  std::vector<Target> targets;
  std::string bits = "bits_payload";  // x axis of the figure's bit panels: one of bits_names()
  std::filesystem::path folder;       // run folders are named relative to it; write_report sets it
};
std::span<const std::string_view> bits_names();  // bits_paper, bits_payload, bits_link

// "accuracy_min=0.9". UsageError where it is none, ConfigError for an unknown metric.
Target parse_target(const std::string& text);

// For the largest loss, and the worst accuracy where every run has one: the median over the runs of
// the best value, rounded to two digits towards the easier side, so that about half reach it.
std::vector<Target> default_targets(std::span<const Series> runs);

struct Reached {
  std::uint32_t iteration = 0;
  double megabits = 0;  // really encoded, per agent
  double seconds = 0;
};
// The first logged round that reaches it. Round 0 does not count: all agents start from one model,
// so the consensus error there is nobody's achievement.
std::optional<Reached> reached(const Series& run, const Target& target);

// What `ticopd report DIR...` is given: run folders and compare folders, each "LABEL=DIR" or "DIR".
struct Collection {
  std::vector<Series> runs;
  // Title, command and targets of compare.json, where there is one; the folder, where it is one.
  ReportOptions options;
  std::vector<std::string> missing;  // runs of a compare folder that were not made yet
};
// FormatError for a folder that is neither, or holds damaged files.
Collection read_folders(std::span<const std::string> words);

// The run's folder as seen from the report's, so that both can be moved together.
std::string folder_name(const Series& run, const ReportOptions& options);

// ConfigError naming the label and both folders.
void refuse_same_labels(std::span<const Series> runs);

// The page's data, in the shape that web/src/data.ts reads.
nlohmann::json report_json(std::span<const Series> runs, const ReportOptions& options);

// One line per run: who, the last row of metrics.csv, the digest, and when each target was reached.
std::string summary_csv(std::span<const Series> runs, const ReportOptions& options);

// The same for a terminal, lines of at most `width` characters.
std::string summary_table(std::span<const Series> runs, const ReportOptions& options,
                          std::size_t width);

struct Written {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> missing;  // "figure.svg, ...: gnuplot is not installed (...)"
};
// summary.csv, figure.svg, figure.pdf, figure.png and report.html; creates the folder.
Written write_report(const std::filesystem::path& folder, std::span<const Series> runs,
                     const ReportOptions& options);

}  // namespace ticopd
