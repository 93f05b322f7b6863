#include "ticopd/experiment/experiment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/experiment/resume.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/experiment/summary.hpp"
#include "ticopd/run/checkpoint.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/run/run.hpp"
#include "ticopd/run/shared_file.hpp"
#include "ticopd/run/traffic_record.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Runs one experiment, from config to run.json. With several processes each has one of these, and
// rank 0 writes the folder.
template <class T>
class ExperimentRun {
 public:
  ExperimentRun(const Config& config, const RunOptions& options)
      : config_(config),
        options_(options),
        transport_(options.processes ? static_cast<Transport&>(*options.processes) : alone_),
        leader_(transport_.rank() == 0),
        folder_(options.out, configured_columns(config)) {
    if (options.processes)
      options.processes->set_deadline(config.get<double>("network.deadline_s"));
  }

  ~ExperimentRun() {
    // The callback refers to this object.
    if (options_.processes) options_.processes->flush_by({});
  }
  ExperimentRun(const ExperimentRun&) = delete;
  ExperimentRun& operator=(const ExperimentRun&) = delete;

  json operator()() {
    // Compare the ranks before the data are loaded: loading may take minutes.
    for (const char* key : {"version", "instruction_set", "kernel", "blas"})
      refuse_other_ranks({{key, machine_json()[key]}}, "");
    refuse_other_ranks({{"--resume", options_.resume}}, "");
    json hashes = json::array();
    for (const json& plugin : plugins_json()) hashes.push_back(plugin["hash"]);
    refuse_other_ranks({{"--plugin", hashes}}, "");
    json config = config_.tree();
    // These keys do not change the run.
    for (const char* key : {"name", "plugins", "report", "figure", "tune"}) config.erase(key);
    refuse_other_ranks(config, "");
    if (const json done = look_at_folder(); !done.is_null()) return done;
    prepared_ = std::make_unique<Prepared<T>>(prepare<T>(config_, prepare_options()));
    inputs_ = inputs_of(prepared_->setup, transport_);
    refuse_other_ranks(shards(), "the data: ");
    refuse_other_inputs();
    if (leader_) folder_.create();
    connect();
    Solution<T> solution;
    try {
      solution = solve(prepared_->algorithm, prepared_->setup);
    } catch (const Diverged& e) {
      const std::string what = fmt::format("{}; {}", e.what(), advice_after_divergence(config_));
      if (leader_) {
        folder_.publish_metrics(true);
        Solution<T> reached;
        if (const auto* run = dynamic_cast<const DivergedRun*>(&e)) {
          reached.rounds = run->rounds;
          reached.digest = run->digest;
          reached.ledger = run->ledger;
          reached.seconds = run->seconds;
        }
        folder_.write_summary(summary("diverged", reached, what));
      }
      throw Diverged(what);
    } catch (const Error& e) {  // such as a lost rank: try to keep the logged metrics
      try {
        if (leader_ && begun_ && folder_.abandon()) {
          json left = opening();
          left["status"] = "interrupted";
          left["reason"] = e.what();
          folder_.write_summary(left);
        }
      } catch (const DiskError&) {
      }
      throw;
    }
    if (leader_) folder_.publish_metrics(true);
    if (solution.finished) write_final(solution);
    const json result = summary(solution.finished ? "finished" : "interrupted", solution, "");
    if (leader_) folder_.write_summary(result);
    return result;
  }

 private:
  // Throws if a rank differs from rank 0. Such ranks would wait for each other's frames for ever,
  // or compute a digest that means nothing.
  void refuse_other_ranks(const json& mine, const std::string& of) {
    const std::vector<json> all = all_gather_json(transport_, mine);
    for (std::size_t r = 1; r < all.size(); ++r)
      if (const std::string difference =
              first_difference(all[r], all[0], "{} is {} there and {} at rank 0");
          !difference.empty())
        throw ConfigError(fmt::format("rank {} on {} is not like rank 0 on {}: {}{}", r,
                                      options_.processes->host(static_cast<int>(r)),
                                      options_.processes->host(0), of, difference));
  }

  // Rank 0 checks the folder for all ranks. Returns run.json if the run is already finished, else
  // null.
  json look_at_folder() {
    std::string done = "null";
    if (leader_) {
      folder_.claim(options_.resume);
      if (options_.resume)
        if (const auto before = finished_before()) done = before->dump();
      if (done == "null") refuse_other_config();
    }
    const Bytes told =
        broadcast(transport_, channel_control, 0, to_bytes<char>(std::span(std::as_const(done))));
    const std::vector<char> text = from_bytes<char>(told);
    return json::parse(text.begin(), text.end());
  }

  PrepareOptions prepare_options() const {
    PrepareOptions prepare = options_.prepare;
    if (!options_.processes) return prepare;
    prepare.rank = transport_.rank();
    prepare.ranks = transport_.size();
    prepare.gather = [this](const json& mine) { return all_gather_json(transport_, mine); };
    if (prepare.threads == 0)
      prepare.threads = std::max(1, usable_cores() / options_.processes->sharers());
    return prepare;
  }

  // Enough to notice that two ranks read different files.
  json shards() const {
    const Objective<T>& f = *prepared_->setup.objective;
    json samples = json::array();
    for (int i = 0; i < f.agents(); ++i) samples.push_back(f.samples(i));
    json all{{"dimension", f.dimension()},
             {"samples", std::move(samples)},
             {"test_samples", f.test_samples()},
             {"labels", prepared_->labels}};
    for (const char* key : {"graph", "start", "test"})
      if (inputs_.contains(key)) all[key] = inputs_[key];
    return all;
  }

  // The summary of an earlier run if that run is finished: it is returned and not run again.
  std::optional<json> finished_before() {
    std::optional<json> before = folder_.read_summary();
    if (!before) return std::nullopt;
    // First, since a config that names a part of a plug-in cannot be read without it.
    refuse_difference(difference_of_plugins(plugins_json(), before->value("plugins", json())));
    check_resume(config_, folder_.path());
    if ((*before)["status"] == "diverged")
      throw Diverged(
          fmt::format("{}: {}", folder_.path().string(), before->value("reason", "diverged")));
    inputs_before_ = before->value("inputs", json());
    if ((*before)["status"] != "finished") return std::nullopt;
    if ((*before)["config"].value("iterations", json()) != config_.tree()["iterations"])
      return std::nullopt;  // it is to be longer
    // Somebody may have removed it, or the disk: the checkpoint has the rows to write it again.
    if (!fs::exists(folder_.path() / "final.npy") && fs::exists(folder_.checkpoint()))
      return std::nullopt;
    return RunFolder::require_finished(folder_.path());
  }

  // The same for all ranks, or one would wait for the others.
  void refuse_other_inputs() {
    const std::string text = inputs_before_.dump();
    const std::vector<char> told = from_bytes<char>(
        broadcast(transport_, channel_control, 0, to_bytes<char>(std::span(text))));
    const json before = parse_json({told.data(), told.size()});
    refuse_difference(difference_of_inputs(inputs_, before));
  }

  void refuse_other_config() {
    if (!options_.resume) return;
    if (!fs::exists(folder_.checkpoint())) {
      folder_.keep_metrics(0, std::nullopt);  // begins anew, unless metrics.csv is somebody else's
      return;
    }
    const ResumePoint point =
        resume_point(config_, read_checkpoint_notes(folder_.checkpoint()), folder_.checkpoint());
    folder_.keep_metrics(point.round, point.logged);
  }

  void refuse_difference(const std::string& difference) const {
    if (!difference.empty())
      throw ConfigError(
          fmt::format("--resume: {} holds another run: {}", folder_.path().string(), difference));
  }

  void connect() {
    Setup<T>& s = prepared_->setup;
    if (options_.processes) {
      s.execution.transport = options_.processes;
      s.execution.abandons = false;  // whoever made the processes ends them, and has more to say
      s.execution.may_pin = options_.processes->sharers() == 1;
      if (leader_) options_.processes->flush_by([this] { folder_.publish_metrics(true); });
    }
    s.saving.file = folder_.checkpoint();
    s.saving.config = config_.identity().dump();
    s.saving.resume = options_.resume;
    s.watch.stop = options_.stop;
    s.watch.on_round = [this](std::uint32_t round) {
      folder_.publish_metrics(false);
      if (options_.on_round) options_.on_round(round);
    };
    s.watch.on_log = [this](const Metrics& m) {
      folder_.add_metrics(m);
      if (options_.on_log) options_.on_log(m);
    };
    s.saving.before = [this] { folder_.publish_metrics(true); };
    // run.json before the first round, and not before a checkpoint was accepted.
    s.watch.on_begin = [this] {
      begun_ = true;
      folder_.write_summary(opening());
      folder_.forget_final();
    };
    s.watch.on_warning = [this](const std::string& text) {
      if (options_.prepare.say) options_.prepare.say("warning: " + text);
    };
  }

  // The content of run.json while the run goes on: whoever finds the folder of a run that was
  // killed can tell what it is.
  json opening() {
    Solution<T> nothing;
    json j = summary("running", nothing, "");
    for (const char* key : {"iterations", "ledger", "seconds", "share"}) j.erase(key);
    return j;
  }

  void write_final(const Solution<T>& solution) {
    write_final_rows(transport_, folder_.path(), prepared_->setup.graph.agents(), solution.x,
                     solution.first_agent, solution.rounds);
  }

  json summary(const std::string& status, const Solution<T>& solution, const std::string& reason) {
    return summary_json(config_, *prepared_, inputs_, {status, reason}, solution);
  }

  const Config& config_;
  const RunOptions& options_;
  Alone alone_;
  Transport& transport_;
  bool leader_;  // writes the folder
  bool begun_ = false;
  RunFolder folder_;
  std::unique_ptr<Prepared<T>> prepared_;
  json inputs_;         // fingerprints of what this run reads
  json inputs_before_;  // those in run.json; null: there are none
};

}  // namespace

json run_experiment(const Config& config, const RunOptions& options) {
  if (config.get<std::string>("precision") == "double")
    return ExperimentRun<double>(config, options)();
  return ExperimentRun<float>(config, options)();
}

}  // namespace ticopd
