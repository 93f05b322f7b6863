#include "ticopd/experiment/session.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/resume.hpp"
#include "ticopd/experiment/summary.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/saved_state.hpp"
#include "ticopd/run/traffic_record.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double snapshot_share = 0.02;  // of the time of a run that may have to save at any moment

MetricColumns columns_of(const Config& config, const std::vector<std::string>& own) {
  MetricColumns all = configured_columns(config);
  for (MetricInfo& column : own_columns(own)) all.push_back(std::move(column));
  return all;
}

std::vector<double> cells_of_line(std::string_view line) {
  std::vector<double> cells;
  for (bool more = true; more;) {
    more = line.find(',') != std::string_view::npos;
    const auto value = parse_number<double>(take_cell(line));
    cells.push_back(value.value_or(nothing));
  }
  return cells;
}

template <class T>
class TypedSession final : public Session {
 public:
  TypedSession(const Config& config, const SessionOptions& options)
      : Session(config, options),
        processes_(options.processes),
        leader_(processes_ == nullptr || processes_->rank() == 0),
        prepared_(prepare<T>(config, of_this_rank(options))) {
    Setup<T>& s = prepared_.setup;
    s.execution.may_pin = false;  // the caller's threads would inherit it
    s.execution.ranks = 1;
    if (processes_ != nullptr) {
      s.execution.transport = processes_;
      s.execution.abandons = false;  // whoever made the processes ends them
    }
    s.saving.config = config.identity().dump();
    if (has_external_objective(config.tree())) s.saving.snapshot_share = snapshot_share;
    s.watch.on_log = [this](const Metrics& m) {
      logged_.push_back(cells(m));
      lines_.push_back(to_csv(m, columns_));
    };
    s.watch.on_warning = options.prepare.say;
    s.watch.own.names = options.metrics.names;
    s.watch.own.measure = [measure = options.metrics.measure](const Field<T>& x, int first,
                                                              std::span<double> values) {
      measure(x.data(), x.rows(), x.cols(), first, values);
    };
    inputs_ = inputs_of(s, transport());
    refuse_other_ranks();
    run_.emplace(prepared_.algorithm, s);
  }

  std::uint32_t step(std::uint32_t rounds) override {
    if (!diverged_.empty()) throw Diverged(diverged_);
    try {
      return run_->step(rounds);
    } catch (const Diverged& e) {
      diverged_ = fmt::format("{}; {}", e.what(), advice_after_divergence(config_));
      throw Diverged(diverged_);
    }
  }
  Metrics measure(MetricLevel level) override { return run_->measure(level); }
  bool finished() const override { return run_->finished(); }
  std::uint32_t round() const override { return run_->round(); }
  std::string digest() const override { return run_->digest(); }

  SessionRows x() override {
    const Field<T>& x = run_->x();
    return {x.data(), run_->first_agent(), x.rows(), x.cols()};
  }

  json summary() override { return summary_of(status(), run_->summary()); }

  void log_every(std::uint32_t rounds) override {
    json tree = config_.tree();
    tree["log"]["every"] = rounds;
    config_ = Config::resolved(std::move(tree), config_.folder());
    run_->log_every(rounds);
  }

  void save(const fs::path& folder) override {
    RunFolder files(folder, columns_);
    if (leader_) take_folder(files);
    const Solution<T> now = run_->summary();
    if (leader_) write_metrics(files, lines_.size());
    if (leader_ && !finished()) files.forget_final();  // of a shorter run that goes on
    if (diverged_.empty()) run_->save(files.checkpoint());
    if (diverged_.empty() && finished())
      write_final_rows(transport(), folder, prepared_.setup.graph.agents(), run_->x(),
                       run_->first_agent(), now.rounds);
    if (leader_) files.write_summary(summary_of(status(), now));
  }

  std::uint32_t save_snapshot(const fs::path& folder) override {
    const std::optional<std::uint32_t> round = run_->snapshot_round();
    if (!round)
      throw UsageError(
          "save: this run has not begun its first round, or shares it with other "
          "processes, and cannot be saved in the middle of it");
    RunFolder files(folder, columns_);
    take_folder(files);
    std::size_t lines = 0;
    while (lines < logged_.size() && logged_[lines].front() <= *round) ++lines;
    write_metrics(files, lines);
    files.forget_final();
    run_->save_snapshot(files.checkpoint());
    Solution<T> then = run_->summary();
    then.rounds = *round;
    then.digest = run_->snapshot_digest();
    json summary = summary_of({"interrupted"}, then);
    for (const char* key : {"ledger", "last", "transport"}) summary.erase(key);  // of a later round
    files.write_summary(summary);
    return *round;
  }

  void resume(const fs::path& folder) override {
    RunFolder files(folder, columns_);
    if (!fs::exists(files.checkpoint()))
      throw UsageError(fmt::format("resume: {} holds no checkpoint of a run", folder.string()));
    const CheckpointNotes notes = read_checkpoint_notes(files.checkpoint());
    refuse_other_config(notes, files.checkpoint());
    SavedState saved = SavedState::read(files.checkpoint(), prepared_.setup.graph.agents());
    saved.make_longer(prepared_.setup.iterations, log_rounds(config_), files.checkpoint());
    files.keep_metrics(saved.round, saved.logged);
    run_->resume(files.checkpoint());
    lines_ = files.metric_lines();
    logged_.clear();
    for (const std::string& line : lines_) logged_.push_back(cells_of_line(line));
  }

 private:
  json summary_of(const RunStatus& status, const Solution<T>& solution) const {
    json summary = summary_json(config_, prepared_, inputs_, status, solution);
    const std::size_t usual = configured_columns(config_).size();
    for (std::size_t c = usual; c < columns_.size(); ++c)
      summary["own_columns"].push_back(columns_[c].column);
    return summary;
  }

  RunStatus status() const {
    if (!diverged_.empty()) return {"diverged", diverged_};
    return {finished() ? "finished" : "interrupted"};
  }

  PrepareOptions of_this_rank(const SessionOptions& options) const {
    PrepareOptions prepare = options.prepare;
    if (processes_ == nullptr) return prepare;
    prepare.rank = processes_->rank();
    prepare.ranks = processes_->size();
    prepare.gather = [this](const json& mine) { return all_gather_json(*processes_, mine); };
    return prepare;
  }

  Transport& transport() {
    return processes_ != nullptr ? static_cast<Transport&>(*processes_) : alone_;
  }

  // Ranks that run different things would wait for each other, or agree on a digest that means
  // nothing.
  void refuse_other_ranks() {
    json mine = config_.identity();
    for (const char* key : {"graph", "start"}) mine["inputs"][key] = inputs_[key];
    mine["dimension"] = prepared_.setup.objective->dimension();
    const std::vector<json> all = all_gather_json(transport(), mine);
    for (std::size_t r = 1; r < all.size(); ++r)
      if (const std::string difference =
              first_difference(all[r], all[0], "{} is {} there and {} at rank 0");
          !difference.empty())
        throw ConfigError(fmt::format("rank {} is not like rank 0: {}", r, difference));
  }

  void take_folder(RunFolder& files) {
    files.claim(true);
    if (fs::exists(files.checkpoint()))
      refuse_other_config(read_checkpoint_notes(files.checkpoint()), files.checkpoint());
    else if (const auto before = files.read_summary())
      refuse_difference((*before)["config"], files.path() / "run.json");
    files.create();
  }

  void refuse_other_config(const CheckpointNotes& notes, const fs::path& file) const {
    const json theirs = notes.contains("config") ? parse_json(notes.at("config")) : json();
    if (!theirs.is_object())
      throw FormatError(file.string() + ": is not the checkpoint of a config");
    refuse_difference(theirs, file);
  }

  void refuse_difference(const json& theirs, const fs::path& file) const {
    const std::string why = why_not_resumed(config_, identity_in(theirs, file, config_));
    if (!why.empty())
      throw ConfigError(fmt::format("{} is of another run: {}", file.string(), why));
  }

  void write_metrics(RunFolder& files, std::size_t lines) {
    files.set_metrics({lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(lines)});
    files.publish_metrics(true);
  }

  Processes* processes_;
  bool leader_;  // writes the folder
  Alone alone_;
  Prepared<T> prepared_;
  json inputs_;
  std::string diverged_;       // why; empty: it did not
  std::optional<Run<T>> run_;  // made last: its set-up may already ask for gradients
};

}  // namespace

Session::Session(const Config& config, const SessionOptions& options)
    : config_(config), columns_(columns_of(config, options.metrics.names)) {}

std::vector<double> Session::cells(const Metrics& m) const {
  std::vector<double> all;
  for (const MetricInfo& column : columns_) all.push_back(column.value(m).value_or(nothing));
  return all;
}

std::unique_ptr<Session> Session::open(const Config& config, const SessionOptions& options) {
  if (config.get<std::string>("precision") == "double")
    return std::make_unique<TypedSession<double>>(config, options);
  return std::make_unique<TypedSession<float>>(config, options);
}

}  // namespace ticopd
