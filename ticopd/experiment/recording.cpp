#include "ticopd/experiment/recording.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ticopd/codecs/table.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/summary.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/own_metrics.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

bool same_edges(const Graph& a, const Graph& b) {
  if (a.agents() != b.agents() || a.edges() != b.edges()) return false;
  for (int i = 0; i < a.agents(); ++i)
    if (a.neighbours(i) != b.neighbours(i)) return false;
  return true;
}

// The edges are in run.json beside the config; the word is for people.
json graph_json(const Graph& graph) {
  json table{{"agents", graph.agents()}};
  for (const char* kind : {"ring", "path", "star", "complete", "grid", "torus"}) {
    GraphOptions options{.kind = kind, .agents = graph.agents()};
    try {
      if (!same_edges(make_graph(options, 0), graph)) continue;
    } catch (const ConfigError&) {  // there is none with so many agents
      continue;
    }
    table["kind"] = kind;
    return table;
  }
  std::string edges;
  for (int i = 0; i < graph.agents(); ++i)
    for (const int j : graph.neighbours(i))
      if (i < j) edges += fmt::format("{}{}-{}", edges.empty() ? "" : " ", i, j);
  table["kind"] = "edges";
  table["edges"] = edges;
  return table;
}

// A codec object of the program's own has no options that a config could name.
json codec_json(const CodecOptions* options) {
  if (options == nullptr) return {{"kind", "external"}};
  json table{{"kind", options->kind}};
  const CodecInfo* info = codec_table().find(options->kind);
  if (info == nullptr) return table;
  std::vector<std::string> names = info->options;
  if (const CodecInfo* then = codec_table().find(options->then); then != nullptr)
    names.insert(names.end(), then->options.begin(), then->options.end());
  for (const std::string& name : names) {
    const Option<CodecOptions>& option = codec_options_table().at(name);
    if (json value = to_json(option.get(*options, name)); !value.is_null())
      table[name] = std::move(value);
  }
  return table;
}

MetricColumns recorded_columns(const std::vector<std::string>& own, MetricLevel level,
                               bool lyapunov) {
  std::vector<std::string_view> requested;
  if (lyapunov) requested.emplace_back("lyapunov");
  MetricColumns all = metric_columns(level, requested);
  for (MetricInfo& column : own_columns(own)) all.push_back(std::move(column));
  return all;
}

// The folder of one run, as its processes fill it.
template <class T>
class Recorder {
 public:
  Recorder(Setup<T>& setup, const Recording& recording, const json& config)
      : setup_(setup),
        transport_(setup.execution.transport ? *setup.execution.transport
                                             : static_cast<Transport&>(alone_)),
        leader_(transport_.rank() == 0),
        folder_(recording.out, recorded_columns(setup.watch.own.names, setup.watch.level,
                                                static_cast<bool>(setup.watch.lyapunov))),
        parts_{config, ".", recording.objective.empty() ? "external" : recording.objective,
               spectrum(setup.graph, setup.weights), std::nullopt},
        inputs_(inputs_of(setup, transport_)) {
    // A method that brings its codec has put it there; the config shows identity.
    if (const CodecOptions* codec = setup.codec->options();
        codec != nullptr && config["codec"]["kind"] == "identity" && codec->kind != "identity")
      parts_.own_codec = *codec;
    if (!leader_) return;
    folder_.claim(false);
    folder_.create();
    setup.watch.on_log = [this, next = setup.watch.on_log](const Metrics& m) {
      folder_.add_metrics(m);
      if (next) next(m);
    };
    setup.watch.on_begin = [this, next = setup.watch.on_begin] {
      json j = summary({"running"}, {});
      for (const char* key : {"iterations", "ledger", "seconds", "share"}) j.erase(key);
      folder_.write_summary(j);
      if (next) next();
    };
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void finish(const Solution<T>& solution) {
    if (leader_) folder_.publish_metrics(true);
    if (solution.finished)
      write_final_rows(transport_, folder_.path(), setup_.graph.agents(), solution.x,
                       solution.first_agent, solution.rounds);
    if (leader_)
      folder_.write_summary(summary({solution.finished ? "finished" : "interrupted"}, solution));
  }

  void diverged(const Diverged& e) {
    if (!leader_) return;
    folder_.publish_metrics(true);
    Solution<T> reached;
    if (const auto* run = dynamic_cast<const DivergedRun*>(&e)) {
      reached.rounds = run->rounds;
      reached.digest = run->digest;
      reached.ledger = run->ledger;
      reached.seconds = run->seconds;
    }
    folder_.write_summary(summary({"diverged", e.what()}, reached));
  }

  void failed() {
    if (leader_) folder_.abandon();
  }

 private:
  json summary(const RunStatus& status, const Solution<T>& solution) {
    json j = summary_json(parts_, setup_, inputs_, status, solution);
    for (const MetricInfo& column : own_columns(setup_.watch.own.names))
      j["own_columns"].push_back(column.column);
    return j;
  }

  Setup<T>& setup_;
  Alone alone_;
  Transport& transport_;
  bool leader_;
  RunFolder folder_;
  SummaryParts parts_;
  json inputs_;
};

}  // namespace

json schedule_json(const Schedule& schedule) {
  using Kind = Schedule::Kind;
  switch (schedule.kind()) {
    case Kind::constant:
      return schedule(1);
    case Kind::inverse_sqrt:
      return {{"schedule", "inverse_sqrt"}, {"c", schedule.c()}, {"t0", schedule.t0()}};
    case Kind::inverse:
      return {{"schedule", "inverse"}, {"c", schedule.c()}, {"t0", schedule.t0()}};
    case Kind::step:
      return {{"schedule", "step"},
              {"c", schedule.c()},
              {"factor", schedule.factor()},
              {"every", schedule.t0()}};
    case Kind::unset:
    case Kind::derived:
      break;
  }
  return nullptr;
}

template <class T>
json recorded_config(const Setup<T>& setup, const Recording& recording, json algorithm,
                     bool own_codec) {
  json graph = graph_json(setup.graph);
  graph["weights"] = words_of(Weights{})[static_cast<std::size_t>(setup.weights)];
  if (setup.links.one_edge) graph["kind"] = "random_edge";
  if (setup.links.drop > 0) graph["drop"] = setup.links.drop;
  json problem{{"objective", "external"}, {"batch", "full"}};
  if (!recording.objective.empty()) problem["name"] = recording.objective;
  if (setup.batch > 0) problem["batch"] = setup.batch;
  json config{
      {"name", recording.name},
      {"seed", setup.seed},
      {"iterations", setup.iterations},
      {"precision", sizeof(T) == 4 ? "float" : "double"},
      {"problem", std::move(problem)},
      {"graph", std::move(graph)},
      {"codec", own_codec ? json{{"kind", "identity"}} : codec_json(setup.codec->options())},
      {"algorithm", std::move(algorithm)}};
  const ChannelNoise& noise = setup.channel_noise;
  config["network"] = {{"noise", words_of(noise.kind)[static_cast<std::size_t>(noise.kind)]},
                       {"noise_scale", noise.scale}};
  config["log"] = {{"level", name_of(setup.watch.level)}, {"points", setup.watch.rounds.points}};
  if (setup.watch.rounds.every > 0) config["log"]["every"] = setup.watch.rounds.every;
  return config;
}

template <class T>
Solution<T> solve_recorded(const RunFactory<T>& algorithm, Setup<T> setup,
                           const Recording& recording, const json& config) {
  if (recording.out.empty()) throw UsageError("Recording::out: is empty; name a folder");
  std::optional<Recorder<T>> recorder;
  try {
    recorder.emplace(setup, recording, config);
  } catch (...) {  // such as a folder that is taken, which only rank 0 sees
    give_up(setup, std::current_exception());
    throw;
  }
  try {
    Solution<T> solution = solve(algorithm, setup);
    recorder->finish(solution);
    return solution;
  } catch (const Diverged& e) {
    recorder->diverged(e);
    throw;
  } catch (const Error&) {
    recorder->failed();
    throw;
  }
}

template json recorded_config(const Setup<float>&, const Recording&, json, bool);
template json recorded_config(const Setup<double>&, const Recording&, json, bool);
template Solution<float> solve_recorded(const RunFactory<float>&, Setup<float>, const Recording&,
                                        const json&);
template Solution<double> solve_recorded(const RunFactory<double>&, Setup<double>, const Recording&,
                                         const json&);

}  // namespace ticopd
