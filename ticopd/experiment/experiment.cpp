#include "ticopd/experiment/experiment.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "ticopd/data/file.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/checkpoint.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/machine.hpp"
#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json machine() {
  return {{"version", version},
          {"instruction_set", instruction_set()},
          {"kernel", kernel_name()},
          {"blas", blas_name()}};
}

json ledger_json(const std::vector<Ledger::Agent>& ledger, const Graph& graph) {
  json agents = json::array(), links = json::array();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const Ledger::Agent& a = ledger[i];
    agents.push_back({{"agent", i},
                      {"messages", a.messages},
                      {"payload_bytes", a.payload_bytes},
                      {"paper_bits", a.paper_bits}});
    const std::vector<int>& to = graph.neighbours(static_cast<int>(i));
    for (std::size_t k = 0; k < to.size(); ++k)
      links.push_back({{"from", i}, {"to", to[k]}, {"payload_bytes", a.link_bytes[k]}});
    total += a.payload_bytes;
  }
  return {{"payload_bytes", total}, {"agents", std::move(agents)}, {"links", std::move(links)}};
}

json edges_json(const Graph& graph) {
  json edges = json::array();
  for (int i = 0; i < graph.agents(); ++i)
    for (const int j : graph.neighbours(i))
      if (i < j) edges.push_back({i, j});
  return edges;
}

// The agents one by one, for who looks at the network and not only at its worst.
json last_json(const Metrics& last) {
  json agents = json::array();
  for (const AgentMetrics& a : last.agents) {
    agents.push_back({{"loss", a.loss}, {"grad_norm2", a.grad_norm2}, {"distance2", a.distance2}});
    if (a.accuracy) agents.back()["accuracy"] = *a.accuracy;
  }
  return {{"iteration", last.iteration}, {"agents", std::move(agents)}};
}

template <class T>
json segments_json(const Objective<T>& objective) {
  json all = json::array();
  for (const Segment& s : objective.segments())
    all.push_back({{"name", s.name}, {"shape", s.shape}});
  return all;
}

// Where the time of this process went, as parts of one.
json shares_json(const Phases& phases, double spent) {
  const double known = phases.gradient + phases.exchange + phases.update + phases.metrics;
  const auto share = [spent](double seconds) { return spent > 0 ? seconds / spent : 0.0; };
  return {{"gradient", share(phases.gradient)},
          {"exchange", share(phases.exchange)},
          {"update", share(phases.update)},
          {"metrics", share(phases.metrics)},
          {"other", share(spent - known)}};
}

// What a run must hold, and what the process really has: bytes.
json memory_json(std::size_t state, std::size_t resident, const std::vector<Held>& held) {
  json features = json::object();
  for (const Held& layout : held) features[layout.layout] = layout.bytes;
  return {{"state", state},
          {"features", std::move(features)},
          {"resident", resident > 0 ? resident : resident_bytes()},
          {"peak", peak_resident_bytes()}};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

template <class T>
class ExperimentRun {
 public:
  ExperimentRun(const Config& config, const RunOptions& options)
      : config_(config), options_(options), folder_(options.out) {}

  json operator()() {
    folder_.refuse_if_taken(options_.resume);
    if (options_.resume)
      if (const auto done = finished_before()) return *done;
    refuse_other_config();
    prepared_ = std::make_unique<Prepared<T>>(prepare<T>(config_, options_.prepare));
    folder_.create();
    connect();
    Solution<T> solution;
    try {
      solution = solve(prepared_->algorithm, prepared_->setup);
    } catch (const Diverged& e) {
      const std::string what = fmt::format("{}; lower {}", e.what(), step_sizes(config_));
      folder_.publish_metrics(true);
      folder_.write_summary(summary("diverged", {}, what));
      throw Diverged(what);
    }
    folder_.publish_metrics(true);
    if (solution.finished) write_final(solution.x);
    const json result = summary(solution.finished ? "finished" : "interrupted", solution, "");
    folder_.write_summary(result);
    return result;
  }

 private:
  // A finished run is left as it is.
  std::optional<json> finished_before() {
    std::optional<json> before = folder_.read_summary();
    if (!before) return std::nullopt;
    const json theirs = Config::from_json((*before)["config"], config_.folder()).identity();
    refuse_difference(first_difference(config_.identity(), theirs));
    if ((*before)["status"] == "diverged")
      throw Diverged(
          fmt::format("{}: {}", folder_.path().string(), before->value("reason", "diverged")));
    if ((*before)["status"] != "finished") return std::nullopt;
    return before;
  }

  void refuse_other_config() {
    if (!options_.resume || !fs::exists(folder_.checkpoint())) return;
    const CheckpointNotes notes = read_checkpoint_notes(folder_.checkpoint());
    const json theirs =
        notes.contains("config") ? json::parse(notes.at("config"), nullptr, false) : json();
    if (!theirs.is_object() || !notes.contains("round"))
      throw FormatError(folder_.checkpoint().string() + ": its notes are damaged");
    refuse_difference(first_difference(config_.identity(), theirs));
    folder_.keep_metrics(
        static_cast<std::uint32_t>(std::strtoul(notes.at("round").c_str(), nullptr, 10)));
  }

  void refuse_difference(const std::string& difference) const {
    if (!difference.empty())
      throw ConfigError(
          fmt::format("--resume: {} holds another run: {}", folder_.path().string(), difference));
  }

  void connect() {
    Setup<T>& s = prepared_->setup;
    s.checkpoint = folder_.checkpoint();
    s.checkpoint_config = config_.identity().dump();
    s.resume = options_.resume;
    s.stop = options_.stop;
    s.on_round = options_.on_round;
    s.on_log = [this](const Metrics& m) {
      folder_.add_metrics(to_csv(m));
      if (options_.on_log) options_.on_log(m);
    };
    s.before_checkpoint = [this] { folder_.publish_metrics(true); };
  }

  void write_final(const Field<T>& x) {
    const std::size_t shape[] = {x.rows(), x.cols()};
    write_atomically(folder_.path() / "final.npy", [&](const fs::path& file) {
      write_npy<T>(file, shape, std::span(x.data(), x.size()));
    });
  }

  json summary(const std::string& status, const Solution<T>& solution, const std::string& reason) {
    const Setup<T>& s = prepared_->setup;
    json j = machine();
    j["status"] = status;
    if (!reason.empty()) j["reason"] = reason;
    j["iterations"] = solution.rounds;
    j["digest"] = solution.digest;
    j["config"] = config_.tree();
    j["config_folder"] = fs::absolute(config_.folder()).lexically_normal().string();
    j["data"] = prepared_->data;
    j["agents"] = s.graph.agents();
    j["edges"] = edges_json(s.graph);
    j["dimension"] = s.objective->dimension();
    j["segments"] = segments_json(*s.objective);
    j["spectrum"] = {{"laplacian_max", prepared_->spectrum.laplacian_max},
                     {"laplacian_min", prepared_->spectrum.laplacian_min},
                     {"gap", prepared_->spectrum.gap}};
    j["ledger"] = ledger_json(solution.ledger, s.graph);
    if (!solution.last.agents.empty()) j["last"] = last_json(solution.last);
    j["threads"] = s.threads * s.ranks;
    j["seconds"] = {{"total", solution.seconds},
                    {"gradient", solution.phases.gradient},
                    {"exchange", solution.phases.exchange},
                    {"update", solution.phases.update},
                    {"metrics", solution.phases.metrics}};
    j["share"] = shares_json(solution.phases, solution.spent);
    j["memory"] = memory_json(solution.state_bytes, solution.resident_bytes, s.objective->held());
    j["date"] = utc_now();
    return j;
  }

  const Config& config_;
  const RunOptions& options_;
  RunFolder folder_;
  std::unique_ptr<Prepared<T>> prepared_;
};

template <class T>
std::string digest_again(const Config& config, const RunOptions& options) {
  Prepared<T> p = prepare<T>(config, options.prepare);
  p.setup.stop = options.stop;
  p.setup.on_log = options.on_log;
  p.setup.on_round = options.on_round;
  const Solution<T> solution = solve(p.algorithm, p.setup);
  if (!solution.finished) throw Interrupted("stopped before the digest was complete");
  return solution.digest;
}

}  // namespace

json run_experiment(const Config& config, const RunOptions& options) {
  if (config.get<std::string>("precision") == "double")
    return ExperimentRun<double>(config, options)();
  return ExperimentRun<float>(config, options)();
}

Verdict verify_experiment(const fs::path& folder, const RunOptions& options) {
  const json before = RunFolder::require_summary(folder);
  if (before["status"] != "finished")
    throw FormatError(fmt::format("{}/run.json: the run is {}, not finished: nothing to compare",
                                  folder.string(), before["status"].dump()));
  Verdict verdict;
  const json here = machine();
  for (const auto& [key, value] : here.items())
    if (before.value(key, json()) != value) {
      verdict.comparable = verdict.same = false;
      verdict.difference =
          fmt::format("{} is {} here and was {} there: equal digests are not promised", key,
                      value.dump(), before.value(key, json()).dump());
      return verdict;
    }
  const Config config =
      Config::from_json(before["config"], before["config_folder"].get<std::string>());
  verdict.digest = config.get<std::string>("precision") == "double"
                       ? digest_again<double>(config, options)
                       : digest_again<float>(config, options);
  verdict.same = before["digest"] == verdict.digest;
  if (!verdict.same)
    verdict.difference = fmt::format("digest is {} now and was {}", verdict.digest,
                                     before["digest"].get<std::string>());
  return verdict;
}

}  // namespace ticopd
