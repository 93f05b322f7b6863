#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "ticopd/experiment/agent_history.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/report/style.hpp"
#include "ticopd/run/machine.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// JSON cannot write NaN and infinities as numbers, so they become strings.
json number(const std::optional<double>& v) {
  if (!v) return nullptr;
  if (std::isnan(*v)) return "nan";
  if (std::isinf(*v)) return *v > 0 ? "inf" : "-inf";
  return *v;
}

json style_json(const Style& s) {
  return {{"color", s.color}, {"dash", s.dash}, {"marker", s.marker}};
}

json metrics_json(const Series& run, std::span<const std::size_t> columns, std::size_t from = 0) {
  json all = json::array();
  for (const std::size_t c : columns) {
    json values = json::array();
    for (const auto& v : std::span(run.columns[c]).subspan(from)) values.push_back(number(v));
    all.push_back(std::move(values));
  }
  return all;
}

json reached_json(const Series& run, std::span<const Target> targets) {
  json all = json::array();
  for (const Target& target : targets) {
    const auto r = reached(run, target);
    all.push_back(
        r ? json{{"iteration", r->iteration}, {"megabits", r->megabits}, {"seconds", r->seconds}}
          : json());
  }
  return all;
}

// Turns the list of agents in run.json into one list per quantity: the page colours the agents by
// one quantity at a time.
json last_json(const Series& run) {
  const json& agents = run.field("/last/agents");
  if (!agents.is_array() || agents.empty()) return nullptr;
  json last = {{"iteration", run.field("/last/iteration")}};
  for (const char* key : {"loss", "grad_norm2", "distance2", "accuracy"}) {
    json values = json::array();
    for (const json& agent : agents)
      if (agent.is_object() && agent.contains(key)) values.push_back(agent[key]);
    if (values.size() == agents.size()) last[key] = std::move(values);
  }
  json bytes = json::array();
  if (const json& ledger = run.field("/ledger/agents"); ledger.is_array())
    for (const json& agent : ledger)
      if (agent.is_object() && agent.contains("payload_bytes"))
        bytes.push_back(agent["payload_bytes"]);
  if (bytes.size() == agents.size()) last["payload_bytes"] = std::move(bytes);
  return last;
}

// Each link once. In version 0.1.0 run.json has only the number of edges, but its ledger lists the
// links.
json edges_json(const Series& run) {
  if (const json& edges = run.field("/edges"); edges.is_array()) return edges;
  json edges = json::array();
  if (const json& links = run.field("/ledger/links"); links.is_array())
    for (const json& link : links)
      if (link.is_object() && link.contains("from") && link.contains("to") &&
          link["from"] < link["to"])
        edges.push_back({link["from"], link["to"]});
  return edges;
}

// Where the agents of a geometric network stand. The points are drawn again from the config, so an
// edited or foreign folder may give others: then a link is longer than the radius, and none is
// shown.
json positions_json(const Series& run, const json& edges) {
  const json &agents = run.field("/agents"), &radius = run.field("/config/graph/radius");
  const json& own_seed = run.field("/config/problem/seed");
  const json& seed = own_seed.is_number_unsigned() ? own_seed : run.field("/config/seed");
  constexpr int most = 100'000;
  if (run.word("/config/graph/kind") != "geometric" || !agents.is_number_unsigned() ||
      agents > most || !radius.is_number() || !seed.is_number_unsigned())
    return nullptr;
  try {
    const auto points = geometric_points(agents, radius, seed);
    for (const json& edge : edges) {
      const auto& [x, y] = points.at(edge.at(0));
      const auto& [other_x, other_y] = points.at(edge.at(1));
      if (std::hypot(x - other_x, y - other_y) > radius.get<double>() * (1 + 1e-9)) return nullptr;
    }
    json places = json::array();  // in ten-thousandths, which no screen tells apart
    for (const auto& [x, y] : points)
      places.push_back({std::round(1e4 * x) / 1e4, std::round(1e4 * y) / 1e4});
    return places;
  } catch (const std::exception&) {  // such as a radius that connects no draw
    return nullptr;
  }
}

json history_json(const Series& run) {
  const std::optional<AgentRows> rows = AgentHistory::read(run.folder);
  if (!rows || run.field("/agents") != rows->values.front().size()) return nullptr;
  json values = json::array();
  for (const std::vector<double>& row : rows->values) {
    json& cells = values.emplace_back(json::array());
    for (const double v : row) cells.push_back(number(v));
  }
  return {{"metric", rows->metric}, {"iterations", rows->iterations}, {"values", values}};
}

json machine_json(const Series& run) {
  json machine = json::object();
  for (const char* key : {"instruction_set", "kernel", "blas", "threads", "version"})
    machine[key] = run.field((std::string("/") + key).c_str());
  return machine;
}

// In older folders the summary of a diverged run counts no rounds, but its metrics do.
std::uint32_t iterations_of(const Series& run) {
  const json& rounds = run.field("/iterations");
  return std::max(run.last_iteration(),
                  rounds.is_number_unsigned() ? rounds.get<std::uint32_t>() : 0);
}

json seconds_of(const Series& run) {
  const json& seconds = run.field("/seconds/total");
  return seconds.is_number() && seconds > 0 ? seconds : number(run.column("seconds").back());
}

json run_json(const Series& run, const Style& style, std::span<const std::size_t> columns,
              const ReportOptions& options) {
  return {{"label", run.label},
          {"group", run.group},
          {"seed", run.seed},
          {"swept", run.swept},
          {"folder", folder_name(run, options)},
          {"status", run.status()},
          {"reason", run.word("/reason")},
          {"algorithm", run.algorithm()},
          {"codec", run.codec()},
          {"rate", number(run.rate())},
          {"iterations", iterations_of(run)},
          {"seconds", seconds_of(run)},
          {"digest", run.word("/digest")},
          {"data", run.word("/data")},
          {"dimension", run.dimension()},
          {"style", style_json(style)},
          {"metrics", metrics_json(run, columns)},
          {"reached", reached_json(run, options.targets)},
          {"graph", run.word("/config/graph/kind")},
          {"agents", run.field("/agents")},
          {"edges", edges_json(run)},
          {"last", last_json(run)},
          {"machine", machine_json(run)},
          {"toml", json_to_toml(run.summary["config"])}};
}

// What only some runs have.
void add_drawing(json& all, const Series& run) {
  if (json positions = positions_json(run, all["edges"]); !positions.is_null())
    all["positions"] = std::move(positions);
  if (json history = history_json(run); !history.is_null()) all["history"] = std::move(history);
}

// How the page names the columns: the titles that the figure has.
json titles_json(std::span<const std::string_view> columns) {
  json titles = json::array();
  for (const std::string_view column : columns) titles.push_back(metric_title(column));
  return titles;
}

json higher_is_better_json(std::span<const std::string_view> columns) {
  json metrics = json::array();
  for (const std::string_view column : columns)
    if (higher_is_better(column)) metrics.push_back(column);
  return metrics;
}

// Middle and ends of each column, in lists like those of a run.
json group_json(const Group& group, const Style& style, std::span<const std::size_t> columns) {
  json all = {{"label", group.label}, {"runs", group.runs}, {"style", style_json(style)}};
  const std::pair<const char*, double Spread::*> sides[] = {
      {"mid", &Spread::mid}, {"low", &Spread::low}, {"high", &Spread::high}};
  for (const std::size_t c : columns) all["columns"].push_back(column_names()[c]);
  for (const auto& [name, side] : sides)
    for (const std::size_t c : columns) {
      json values = json::array();
      for (const std::optional<Spread>& s : group.columns[c])
        values.push_back(s ? number((*s).*side) : json());
      all[name].push_back(std::move(values));
    }
  return all;
}

// A group of one run looks like its run.
json groups_json(std::span<const Series> runs, Band band, std::span<const Style> style,
                 std::span<const std::size_t> columns) {
  json all = json::array();
  for (const Group& group : groups_of(runs, band))
    if (group.runs.size() > 1) all.push_back(group_json(group, style[group.runs.front()], columns));
  return all;
}

}  // namespace

json rows_json(const Series& run, std::span<const std::size_t> columns, std::size_t from) {
  return {{"from", from},
          {"metrics", metrics_json(run, columns, from)},
          {"status", run.status()},
          {"iterations", iterations_of(run)},
          {"seconds", seconds_of(run)},
          {"last", last_json(run)}};
}

json report_json(std::span<const Series> runs, const ReportOptions& options) {
  json targets = json::array(), all = json::array();
  for (const Target& t : options.targets)
    targets.push_back({{"metric", t.metric}, {"value", t.value}});
  const std::vector<Style> style = styles(runs);
  const std::vector<std::size_t> columns = shown_columns(runs);
  std::vector<std::string_view> names;
  for (const std::size_t c : columns) names.push_back(column_names()[c]);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    all.push_back(run_json(runs[r], style[r], columns, options));
    add_drawing(all.back(), runs[r]);
  }
  json report{{"format", 1},
              {"title", options.title},
              {"version", version},
              {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
              {"command", options.command},
              {"targets", std::move(targets)},
              {"titles", titles_json(names)},
              {"higher_is_better", higher_is_better_json(names)},
              {"columns", names},
              {"sweep", options.sweep},
              {"band", name_of(options.band)},
              {"groups", groups_json(runs, options.band, style, columns)},
              {"runs", std::move(all)}};
  if (!options.sites.empty()) report["sites"] = options.sites;
  return report;
}

}  // namespace ticopd
