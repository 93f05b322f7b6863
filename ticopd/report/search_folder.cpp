#include "ticopd/report/search_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/metrics.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t most_trials = 20;  // more curves than that nobody can tell apart

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (bool more = true; more;) {
    more = line.find(',') != std::string_view::npos;
    cells.emplace_back(take_cell(line));
  }
  return cells;
}

// trials.csv. Between `spent` and `bits_payload` stand the searched parameters, then the metric.
class Trials {
 public:
  Trials(const fs::path& folder, const std::string& label)
      : folder_(folder), label_(label), file_(folder / "trials.csv"), search_(read_search()) {
    const std::string text = read_file(file_);
    std::string_view left = text;
    names_ = cells_of(take_line(left));
    for (const char* name : {"trial", "spent", "bits_payload", "rounds", "status"})
      if (place(name) == names_.size()) refuse(1, fmt::format("has no column {}", name));
    if (place("bits_payload") < place("spent") + 2) refuse(1, "has no metric");
    metric_ = names_[place("bits_payload") - 1];
    for (int line = 2; !left.empty(); ++line) add(cells_of(take_line(left)), line);
  }

  // The trials that came furthest, and of those the best; at most so many.
  std::vector<Series> best(std::size_t most) {
    std::vector<Series> all;
    for (auto& [id, trial] : trials_) all.push_back(std::move(trial));
    std::ranges::stable_sort(all, [&](const Series& a, const Series& b) {
      if (a.last_iteration() != b.last_iteration()) return a.last_iteration() > b.last_iteration();
      return badness(a) < badness(b);
    });
    if (all.size() > most) all.resize(most);
    return all;
  }
  std::size_t size() const { return trials_.size(); }

 private:
  [[noreturn]] void refuse(int line, const std::string& what) const {
    throw FormatError(fmt::format("{}:{}: {}", file_.string(), line, what));
  }

  json read_search() const {
    const fs::path file = folder_ / "search.json";
    json search = parse_json(read_file(file));
    if (!search.is_object() || !search.value("config", json()).is_object())
      throw FormatError(file.string() + ": is not a search (no \"config\")");
    return search;
  }

  std::size_t place(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  }

  void add(const std::vector<std::string>& cells, int line) {
    if (cells.size() != names_.size()) refuse(line, "is cut off or damaged");
    const auto count = [&](const char* name) {
      const auto value = parse_number<std::uint32_t>(cells[place(name)]);
      if (!value) refuse(line, fmt::format("{} is no whole number", name));
      return *value;
    };
    const std::uint32_t id = count("trial"), round = count("rounds");
    const auto [at, is_new] = trials_.try_emplace(id);
    Series& trial = at->second;
    if (is_new) begin(trial, id, cells);
    const std::string& status = cells[place("status")];
    if (status == "diverged") {
      trial.summary["status"] = status;
      trial.summary["reason"] = "diverged in the search";
    } else if (round >= plan()) {
      trial.summary["status"] = "finished";
      trial.summary.erase("reason");
    }
    if (trial.rows() > 0 && round <= trial.last_iteration()) return;
    set(trial, "iteration", round);
    set(trial, "bits_payload", parse_number<double>(cells[place("bits_payload")]));
    set(trial, metric_, parse_number<double>(cells[place(metric_)]));
    for (Series::Column& column : trial.columns) column.resize(trial.columns.front().size());
  }

  void begin(Series& trial, std::uint32_t id, const std::vector<std::string>& cells) const {
    trial.folder = folder_;
    trial.columns.resize(column_names().size());
    json config = search_["config"];
    trial.label = fmt::format("{}trial {}", label_.empty() ? "" : label_ + ": ", id);
    const std::size_t metric = place("bits_payload") - 1;
    for (std::size_t c = place("spent") + 1; c < metric; ++c) {
      const auto value = parse_number<double>(cells[c]);
      trial.label += fmt::format("{}{} = {}", c == place("spent") + 1 ? ": " : ", ", names_[c],
                                 value ? fmt::format("{:.3g}", *value) : cells[c]);
      const std::string key =
          names_[c].find('.') == std::string::npos ? "algorithm." + names_[c] : names_[c];
      const auto dot = key.find('.');
      config[key.substr(0, dot)][key.substr(dot + 1)] = value ? json(*value) : json(cells[c]);
    }
    trial.summary = {{"config", std::move(config)},
                     {"status", "stopped"},
                     {"reason",
                      "the search goes on with better trials, or has not come back to "
                      "this one yet"},
                     {"digest", ""}};
  }

  std::uint32_t plan() const {
    const json rounds = search_.value("rounds", json());
    const json bits = search_.value("budget_bits", json(0));
    if (!rounds.is_number_unsigned() || (bits.is_number() && bits > 0)) return 1;
    return rounds.get<std::uint32_t>();
  }

  static void set(Series& trial, std::string_view column, std::optional<double> value) {
    const std::vector<std::string_view> names = column_names();
    const auto at = std::ranges::find(names, column);
    if (at != names.end())
      trial.columns[static_cast<std::size_t>(at - names.begin())].push_back(value);
  }

  double badness(const Series& trial) const {
    const std::vector<std::string_view> names = column_names();
    if (std::ranges::find(names, metric_) == names.end()) return 0;
    const double value = trial.column(metric_).back().value_or(NAN);
    return std::isnan(value) ? INFINITY : higher_is_better(metric_) ? -value : value;
  }

  fs::path folder_;
  std::string label_;
  fs::path file_;
  json search_;
  std::vector<std::string> names_;  // of the columns
  std::string metric_;
  std::map<std::uint32_t, Series> trials_;
};

}  // namespace

std::vector<fs::path> searches_in(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "search.json", error)) return {folder};
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / "search.json", error)) all.push_back(entry.path());
  std::ranges::sort(all);
  return all;
}

void add_search(const fs::path& folder, const std::string& label, std::vector<Series>& runs,
                std::vector<std::string>& missing) {
  std::error_code error;
  const std::string name = label.empty() ? folder.string() : label;
  if (!fs::exists(folder / "trials.csv", error)) {
    missing.push_back(fmt::format("{}: no trial of this search has a result yet", name));
    return;
  }
  Trials trials(folder, label);
  if (trials.size() > most_trials)
    missing.push_back(fmt::format("{}: {} trials that came less far; trials.csv has all", name,
                                  trials.size() - most_trials));
  for (Series& trial : trials.best(most_trials)) runs.push_back(std::move(trial));
}

}  // namespace ticopd
