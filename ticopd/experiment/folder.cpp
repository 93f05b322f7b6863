#include "ticopd/experiment/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// A field of run.json that commands read, and whether every run that is finished has it.
struct SummaryField {
  const char* path;
  enum Type { count, number, word, list, table, numbers } type;
  bool required = false;
};
constexpr SummaryField summary_fields[] = {
    {"iterations", SummaryField::count, true},
    {"seconds.total", SummaryField::number, true},
    {"seconds", SummaryField::numbers},
    {"ledger", SummaryField::table},
    {"ledger.agents", SummaryField::list, true},
    {"dimension", SummaryField::count},
    {"threads", SummaryField::count},
    {"device", SummaryField::word},
    {"kernel", SummaryField::word},
    {"blas", SummaryField::word},
    {"reason", SummaryField::word},
    {"share.gradient", SummaryField::number},
    {"share.exchange", SummaryField::number},
    {"share.update", SummaryField::number},
    {"share.metrics", SummaryField::number},
    {"share.note", SummaryField::word},
    {"memory.state", SummaryField::number},
    {"memory.resident", SummaryField::number},
    {"memory.peak", SummaryField::number},
    {"memory.features", SummaryField::numbers},
};

constexpr std::string_view in_words[] = {"a whole number", "a number", "a text",
                                         "a list",         "a table",  "a table of numbers"};

bool fits(const json& value, SummaryField::Type type) {
  switch (type) {
    case SummaryField::count:
      return value.is_number_unsigned() && value.get<std::uint64_t>() <= 0xffffffffu;
    case SummaryField::number:
      return value.is_number();
    case SummaryField::word:
      return value.is_string();
    case SummaryField::list:
      return value.is_array();
    case SummaryField::table:
      return value.is_object();
    case SummaryField::numbers:
      break;
  }
  return value.is_object() &&
         std::ranges::all_of(value, [](const json& part) { return part.is_number(); });
}

// Somebody may have edited the file.
void check_fields(const json& summary, const fs::path& file) {
  const auto refuse = [&](std::string_view field, const json& value, std::string_view allowed) {
    std::string given = value.dump();
    if (given.size() > 40) given = given.substr(0, 40) + "...";
    throw FormatError(
        fmt::format("{}: {} = {}: allowed is {}", file.string(), field, given, allowed));
  };
  for (const SummaryField& field : summary_fields)
    if (const json* value = find_value(summary, field.path);
        value != nullptr && !fits(*value, field.type))
      refuse(field.path, *value, in_words[field.type]);
  // The bytes of each agent; `ticopd audit` checks the rest of the ledger.
  if (const json* agents = find_value(summary, "ledger.agents"))
    for (const json& a : *agents)
      for (const char* key : {"payload_bytes", "paper_bits"})
        if (!a.is_object() || !a.value(key, json()).is_number())
          refuse("ledger.agents", a, "an agent with payload_bytes and paper_bits");
}

}  // namespace

void RunFolder::refuse_if_taken(bool resume) const {
  std::error_code error;
  if (!fs::exists(path_, error)) return;
  if (!fs::is_directory(path_, error))
    throw UsageError(
        fmt::format("--out {}: is a file; expected a folder that is new or empty", path_.string()));
  const bool empty = is_empty_folder(path_);
  if (!resume && !empty)
    throw UsageError(fmt::format(
        "--out {}: is not empty; give a new folder, or --resume to go on with the run in it",
        path_.string()));
  if (resume && !empty && !is_ours())
    throw UsageError(fmt::format("--resume: {} holds files, but no run by ticopd", path_.string()));
}

// A metrics.csv alone may be anybody's.
bool RunFolder::is_ours() const {
  std::error_code error;
  if (fs::exists(path_ / "run.json", error) || fs::exists(checkpoint(), error)) return true;
  if (holds_only_unfinished(path_)) return true;  // killed while it wrote its first run.json
  if (!fs::is_regular_file(path_ / "metrics.csv", error)) return false;
  const std::string text = read_bytes(path_ / "metrics.csv");
  std::string_view left = text;
  return take_line(left) == csv_header(columns_);
}

void RunFolder::claim(bool resume) {
  std::error_code error;
  // Reject a file of this name before FolderClaim tries to create the folder.
  if (!fs::is_directory(path_, error)) refuse_if_taken(resume);
  claim_.emplace(path_).hold();
  // Check under the lock: another run may have used the folder until now.
  refuse_if_taken(resume);
}

void RunFolder::create() {
  if (!claim_) claim_.emplace(path_);
  // Remove the temporary files that a killed run may have left.
  remove_unfinished(path_);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    for (const char* ours : {"final.npy.", "checkpoint.safetensors."})  // written by several ranks
      if (name.starts_with(ours) && name.ends_with(".tmp")) fs::remove(entry.path(), error);
  }
}

std::optional<json> RunFolder::read_summary() const {
  if (!fs::exists(path_ / "run.json")) return std::nullopt;
  return require_summary(path_);
}

json RunFolder::require_summary(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  std::string why = "no JSON object";
  json summary = parse_json(read_file(file), &why);
  if (!summary.is_object())
    throw FormatError(fmt::format("{}: is not a run summary ({})", file.string(), why));
  for (const char* key : {"config", "status", "digest", "config_folder"}) {
    const json value = summary.value(key, json());
    if (std::string_view(key) == "config" ? !value.is_object() : !value.is_string())
      throw FormatError(fmt::format("{}: is not a run summary (no \"{}\")", file.string(), key));
  }
  check_fields(summary, file);
  return summary;
}

json RunFolder::require_finished(const fs::path& folder) {
  json summary = require_summary(folder);
  const std::string file = (folder / "run.json").string();
  if (summary["status"] != "finished")
    throw FormatError(fmt::format("{}: the run is {}, not finished: nothing to compare", file,
                                  summary["status"].dump()));
  for (const SummaryField& field : summary_fields)
    if (field.required && find_value(summary, field.path) == nullptr)
      throw FormatError(fmt::format("{}: {} is missing", file, field.path));
  return summary;
}

void RunFolder::keep_metrics(std::uint32_t up_to_round, std::optional<std::uint32_t> last_logged) {
  const fs::path file = path_ / "metrics.csv";
  const auto refuse = [&](const std::string& what) {
    throw FormatError(fmt::format(
        "{}{}; without the metrics up to the checkpoint of round {} the run cannot go on",
        file.string(), what, up_to_round));
  };
  if (!fs::exists(file) && !last_logged) return;
  if (!fs::exists(file)) refuse(": is missing");
  const std::string header = csv_header(columns_), text = read_file(file);
  std::string_view left = text;
  if (take_line(left) != header)
    throw FormatError(fmt::format("{}:1: is not our header", file.string()));
  std::optional<std::uint32_t> round;
  for (int number = 2; left.find('\n') != std::string_view::npos; ++number) {
    const std::string_view line = take_line(left);
    const auto next = parse_number<std::uint32_t>(line.substr(0, line.find(',')));
    if (!next || std::ranges::count(line, ',') != std::ranges::count(header, ',') ||
        (round && *next <= *round))
      refuse(fmt::format(":{}: is not a row of metrics", number));
    if (!last_logged || *next > *last_logged) break;
    for (std::string_view cells = line; !cells.empty();) {
      const std::string_view cell = take_cell(cells);
      if (!cell.empty() && !parse_number<double>(cell))
        refuse(fmt::format(":{}: \"{}\" is no number", number, printable(cell.substr(0, 40))));
    }
    round = next;
    lines_.emplace_back(line);
  }
  if (round != last_logged) refuse(fmt::format(": round {} is missing", last_logged.value_or(0)));
  if (last_logged) agents_.keep(path_, *last_logged);
}

void RunFolder::add_metrics(const Metrics& m) {
  agents_.add(m);
  add_metrics(to_csv(m, columns_));
}

void RunFolder::add_metrics(std::string line) {
  lines_.push_back(std::move(line));
  unpublished_ = true;
  publish_metrics(false);
}

void RunFolder::publish_metrics(bool immediately) {
  if (immediately) agents_.write(path_);
  constexpr double least_pause = 1, share = 0.02;  // seconds; of the time of the run
  if (!immediately && !unpublished_) return;
  const double now = seconds_now();
  if (!immediately && now < publish_at_) return;
  std::string text = csv_header(columns_) + '\n';
  for (const std::string& line : lines_) text += line + '\n';
  write_atomically(path_ / "metrics.csv", text);
  unpublished_ = false;
  const double then = seconds_now();
  publish_at_ = then + std::max(least_pause, (then - now) / share);
}

bool RunFolder::abandon() {
  if (!lines_.empty()) {
    publish_metrics(true);
    return true;
  }
  std::error_code ignored;
  fs::remove(path_ / "run.json", ignored);  // said no more than that the run began
  claim_.reset();                           // removes the folder if it is empty
  return false;
}

void RunFolder::write_summary(const json& summary) const {
  write_atomically(path_ / "run.json", json_text(summary));
}

void RunFolder::forget_final() const {
  std::error_code error;
  fs::remove(path_ / "final.npy", error);
}

}  // namespace ticopd
