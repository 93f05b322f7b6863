#include "fuzz/read_runs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/place.hpp"
#include "fuzz/want.hpp"
#include "ticopd/experiment/audit.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/tune/trials.hpp"

namespace ticopd {
namespace {

// The least that run.json and metrics.csv of a finished run need.
const std::string right_summary =
    R"({"config": {"name": "right"}, "config_folder": ".", "status": "finished", "digest": "00",)"
    R"( "iterations": 40, "seconds": {"total": 1}})";

std::string right_metrics() {
  std::string text = csv_header() + '\n';
  for (const std::uint32_t round : {0u, 1u, 40u}) {
    Metrics m;
    m.iteration = round;
    m.bits_payload = 8.0 * round;
    m.loss_max = 2.0 / (1 + round);
    text += to_csv(m) + '\n';
  }
  return text;
}

// All that a report says of runs.
void report(std::span<const Series> runs, const ReportOptions& options) {
  for (const Series& run : runs) {
    want(run.rows() > 0);
    for (const Series::Column& column : run.columns) want(column.size() == run.rows());
  }
  want(!summary_csv(runs, options).empty());
  want(!summary_table(runs, options, 80).empty());
  want(report_json(runs, options).is_object());
}

void report(const Series& run) {
  ReportOptions options;
  options.targets = default_targets({&run, 1});
  report({&run, 1}, options);
}

bool same(double a, double b) {
  return a == b || (a != a && b != b);
}

bool same(const nlohmann::json& a, const nlohmann::json& b) {  // a word or a number
  return a == b || (a.is_number() && b.is_number() && same(a.get<double>(), b.get<double>()));
}

bool same(const TrialResult& a, const TrialResult& b) {
  return a.trial == b.trial && a.bracket == b.bracket && a.rounds == b.rounds &&
         a.spent == b.spent && a.made == b.made && same(a.metric, b.metric) &&
         same(a.bits_payload, b.bits_payload) && a.seed == b.seed && a.grew == b.grew &&
         same(a.at_end, b.at_end) && same(a.loss, b.loss) && same(a.grad_norm2, b.grad_norm2) &&
         same(a.accuracy, b.accuracy) &&
         std::ranges::equal(a.values, b.values, [](const auto& x, const auto& y) {
           return x.first == y.first && same(x.second, y.second);
         });
}

}  // namespace

void read_run_json(std::string_view content) {
  static const auto metrics = place().put("run/metrics.csv", right_metrics());
  place().put("run/run.json", content);
  const Series run = read_series(metrics.parent_path());
  accepts([&] { report(run); });
  accepts([&] { to_json(audit_ledger(run.summary)); });
  accepts([&] { Config::resolved(run.summary["config"], place().folder()); });
}

void read_metrics(std::string_view content) {
  static const auto summary = place().put("run/run.json", right_summary);
  place().put("run/metrics.csv", content);
  report(read_series(summary.parent_path()));
}

void read_kept_metrics(std::string_view content) {
  static const auto summary = place().put("run/run.json", right_summary);
  const auto path = place().put("run/metrics.csv", content).parent_path();
  // The length of the input chooses the round that was logged last before the checkpoint of 40.
  constexpr std::array<std::optional<std::uint32_t>, 4> choices{40, 40, 1, std::nullopt};
  const auto last_logged = choices[content.size() % choices.size()];
  RunFolder folder(path);
  folder.keep_metrics(40, last_logged);
  if (!last_logged) return;
  folder.publish_metrics(true);
  place().forget("run/metrics.csv");
  const Series run = read_again([&] { return read_series(path); });
  want(run.last_iteration() == *last_logged);
  read_again([&] { RunFolder(path).keep_metrics(40, last_logged); });
}

void read_trials(std::string_view content) {
  const std::vector<std::string> axes{"alpha", "eta"};
  const auto file = place().put("trials.csv", content);
  TrialLog log(file, axes, "loss_max");
  log.load();
  log.publish();
  place().forget("trials.csv");
  TrialLog again(file, axes, "loss_max");
  read_again([&] { again.load(); });
  const auto same_result = [](const TrialResult& a, const TrialResult& b) { return same(a, b); };
  want(std::ranges::equal(log.results(), again.results(), same_result));
}

void read_compare(std::string_view content) {
  static const bool made = [] {
    for (const std::string run : {"all/a/", "all/b/"}) {
      place().put(run + "run.json", right_summary);
      place().put(run + "metrics.csv", right_metrics());
    }
    return true;
  }();
  want(made);
  const auto file = place().put("all/compare.json", content);
  const std::vector<std::string> words{file.parent_path().string()};
  const Collection all = read_folders(words);
  want(!all.runs.empty());
  report(all.runs, all.options);
}

}  // namespace ticopd
