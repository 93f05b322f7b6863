#include "ticopd/experiment/folder.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "ticopd/data/file.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/metrics.hpp"
#include "ticopd/network/clock.hpp"

namespace ticopd {

namespace fs = std::filesystem;
using nlohmann::json;

void RunFolder::refuse_if_taken(bool resume) const {
  std::error_code error;
  if (!fs::exists(path_, error)) return;
  if (!fs::is_directory(path_, error))
    throw UsageError(
        fmt::format("--out {}: is a file; expected a folder that is new or empty", path_.string()));
  if (!resume && !fs::is_empty(path_, error))
    throw UsageError(fmt::format(
        "--out {}: is not empty; give a new folder, or --resume to go on with the run in it",
        path_.string()));
  const bool a_run = fs::exists(path_ / "metrics.csv", error) ||
                     fs::exists(path_ / "run.json", error) || fs::exists(checkpoint(), error);
  if (resume && !a_run && !fs::is_empty(path_, error))
    throw UsageError(fmt::format("--resume: {} holds files, but no run of ticopd", path_.string()));
}

void RunFolder::claim(bool resume) {
  std::error_code error;
  if (!fs::is_directory(path_, error)) refuse_if_taken(resume);
  claim_.emplace(path_).hold();
  refuse_if_taken(resume);
}

void RunFolder::create() {
  if (!claim_) claim_.emplace(path_);
  remove_unfinished(path_);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    for (const char* ours : {"final.npy.", "checkpoint.safetensors."})  // of several ranks
      if (name.starts_with(ours) && name.ends_with(".tmp")) fs::remove(entry.path(), error);
  }
}

std::optional<json> RunFolder::read_summary() const {
  if (!fs::exists(path_ / "run.json")) return std::nullopt;
  return require_summary(path_);
}

json RunFolder::require_summary(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  json summary = json::parse(read_file(file), nullptr, false);
  if (!summary.is_object())
    throw FormatError(fmt::format("{}: is not a run summary (no JSON object)", file.string()));
  for (const char* key : {"config", "status", "digest", "config_folder"}) {
    const json value = summary.value(key, json());
    if (std::string_view(key) == "config" ? !value.is_object() : !value.is_string())
      throw FormatError(fmt::format("{}: is not a run summary (no \"{}\")", file.string(), key));
  }
  return summary;
}

void RunFolder::keep_metrics(std::uint32_t up_to_round) {
  const fs::path file = path_ / "metrics.csv";
  if (!fs::exists(file)) return;
  std::istringstream in(read_file(file));
  std::string line;
  std::getline(in, line);
  if (line != std::string(metrics_header) + more_)
    throw FormatError(fmt::format("{}:1: is not our header", file.string()));
  while (std::getline(in, line))
    if (std::strtoul(line.c_str(), nullptr, 10) <= up_to_round) lines_.push_back(line);
}

void RunFolder::add_metrics(std::string line) {
  lines_.push_back(std::move(line));
  publish_metrics(false);
}

void RunFolder::publish_metrics(bool immediately) {
  const double now = seconds_now();
  if (!immediately && now - published_at_ < 1) return;
  std::string text = std::string(metrics_header) + more_ + '\n';
  for (const std::string& line : lines_) text += line + '\n';
  write_atomically(path_ / "metrics.csv", text);
  published_at_ = now;
}

void RunFolder::abandon() {
  if (!lines_.empty()) publish_metrics(true);
  if (lines_.empty()) claim_.reset();  // the folder stays if there is something in it
}

void RunFolder::write_summary(const json& summary) const {
  write_atomically(path_ / "run.json", summary.dump(2) + "\n");
}

}  // namespace ticopd
