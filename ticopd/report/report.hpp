#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/report/groups.hpp"
#include "ticopd/report/series.hpp"

namespace ticopd {

// A value that a run should reach: at most this loss or error, at least this accuracy.
struct Target {
  std::string metric;
  double value = 0;
};

// What a report shows besides the runs.
struct ReportOptions {
  std::string title;
  std::string command;  // the command that made the runs; empty if unknown
  std::vector<Target> targets;
  std::string bits = "bits_payload";    // x axis of the figure's bit panels: one of bits_names()
  Band band = Band::range;              // how far the runs of a group lie apart
  std::vector<std::string> sweep = {};  // the swept keys
  nlohmann::json figure = {};           // [figure], as given; see figure_options.hpp
  nlohmann::json sites = nlohmann::json::array();  // whose folders these are: see sites.hpp
  std::vector<std::string> labels = {};  // labels and groups of a comparison, also of runs to come
  std::filesystem::path folder;  // run folders are named relative to it; write_report sets it
  const std::atomic<bool>* stop = nullptr;  // set from outside: end the drawing, throw Interrupted
};
std::span<const std::string_view> bits_names();  // bits_paper, bits_payload, bits_link

// Parses "accuracy_min=0.9". UsageError for another form, ConfigError for an unknown metric.
Target parse_target(const std::string& text);

// One target for the largest loss, and one for the worst accuracy if every run has one. The value
// is the median of the runs' best values, rounded to two digits towards the easier side, so that
// about half of the runs reach it.
std::vector<Target> default_targets(std::span<const Series> runs);

// When a run reached a target.
struct Reached {
  std::uint32_t iteration = 0;
  double megabits = 0;  // as encoded, per agent
  double seconds = 0;
};
// The first logged round that reaches the target. Round 0 does not count: all agents start from the
// same model, so the consensus error is zero there for every method.
std::optional<Reached> reached(const Series& run, const Target& target);

// The arguments of `ticopd report`: run folders and compare folders, each "LABEL=DIR" or "DIR".
struct Collection {
  std::vector<Series> runs;
  // Title, command and targets come from compare.json; `folder` is set if only one was given.
  ReportOptions options;
  std::vector<std::string> missing;  // runs without a row: not begun, or only just; and why
};
// Run folders, comparisons and searches, finished or not. FormatError for a folder that is none of
// them, that holds damaged files, or if no run has a row yet.
Collection read_folders(std::span<const std::string> words);

// read_series, and "stopped" in place of "running" if no process has the folder. NoRowYet also for
// a run that has not begun.
Series read_run(const std::filesystem::path& folder);
std::string_view reason_of_end(const Series& run);

// read_folders with another way to read a run, and without an error if no run has a row yet or two
// have the same label.
using ReadRun = std::function<Series(const std::filesystem::path& folder)>;
Collection gather_folders(std::span<const std::string> words, const ReadRun& read);

// FormatError if one of them is no folder.
void require_folders(std::span<const std::string> words);
// The folder in an argument: DIR or LABEL=DIR.
std::filesystem::path folder_of_word(const std::string& word);

// The run's folder relative to the report's folder, so that both can be moved together.
std::string folder_name(const Series& run, const ReportOptions& options);

// ConfigError if two runs have the same label; it names the label and both folders.
void refuse_same_labels(std::span<const Series> runs);

// The page's data, in the format that web/src/data.ts reads.
nlohmann::json report_json(std::span<const Series> runs, const ReportOptions& options);

// The rows of a run from row `from` on: one list for each of these columns (shown_columns), and
// what of the run changes with them. A page that has the rows before adds them.
nlohmann::json rows_json(const Series& run, std::span<const std::size_t> columns, std::size_t from);

// One line per run: label, method and codec, the last row of metrics.csv, the digest, and when the
// run reached each target. With groups, three lines for each follow.
std::string summary_csv(std::span<const Series> runs, const ReportOptions& options);

// A table for a terminal, of groups if there are any, with lines of at most `width` characters.
std::string summary_table(std::span<const Series> runs, const ReportOptions& options,
                          std::size_t width);

// The files that write_report made, and those that it could not make, with the reason.
struct Written {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> missing;  // "figure.svg, ...: gnuplot is not installed (...)"
};
// Writes summary.csv, groups.csv (with groups), figure.svg, figure.pdf, figure.png, the script
// figure.gp with figure.dat, and report.html; creates the folder.
Written write_report(const std::filesystem::path& folder, std::span<const Series> runs,
                     const ReportOptions& options);

}  // namespace ticopd
