#include "ticopd/experiment/run_json.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/system/memory.hpp"

namespace ticopd {

using nlohmann::json;

json ledger_json(const std::vector<Ledger::Agent>& ledger, const Graph& graph) {
  json agents = json::array(), links = json::array();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const Ledger::Agent& a = ledger[i];
    agents.push_back({{"agent", i},
                      {"messages", a.messages},
                      {"payload_bytes", a.payload_bytes},
                      {"paper_bits", a.paper_bits}});
    if (a.saturated > 0) agents.back()["saturated"] = a.saturated;
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

json last_json(const Metrics& last) {
  json agents = json::array();
  for (const AgentMetrics& a : last.agents) {
    agents.push_back({{"distance2", a.distance2}});
    if (a.loss) agents.back()["loss"] = *a.loss;
    if (a.grad_norm2) agents.back()["grad_norm2"] = *a.grad_norm2;
    if (a.accuracy) agents.back()["accuracy"] = *a.accuracy;
  }
  return {{"iteration", last.iteration}, {"agents", std::move(agents)}};
}

json layout_json(const std::vector<Segment>& segments) {
  json all = json::array();
  for (const Segment& s : segments) all.push_back({{"name", s.name}, {"shape", s.shape}});
  return all;
}

namespace {

std::string metrics_note(double share, MetricLevel level) {
  const char* keys = level == MetricLevel::full    ? "log.level = \"local\" or log.samples"
                     : level == MetricLevel::local ? "log.level = \"rows\" or log.samples"
                                                   : "log.points or log.every";
  return fmt::format("metrics took {:.0f} % of the time: {} would lower it", 100 * share, keys);
}

}  // namespace

json shares_json(const Phases& phases, double spent, MetricLevel level) {
  const double known = phases.gradient + phases.exchange + phases.update + phases.metrics;
  const auto share = [spent](double seconds) { return spent > 0 ? seconds / spent : 0.0; };
  json all = {{"gradient", share(phases.gradient)},
              {"exchange", share(phases.exchange)},
              {"update", share(phases.update)},
              {"metrics", share(phases.metrics)},
              {"other", share(spent - known)}};
  constexpr double much = 0.2;
  if (all["metrics"] > much) all["note"] = metrics_note(all["metrics"], level);
  return all;
}

json memory_json(std::size_t state, std::size_t resident, const std::vector<LayoutBytes>& held) {
  json features = json::object();
  for (const LayoutBytes& layout : held) features[layout.layout] = layout.bytes;
  return {{"state", state},
          {"features", std::move(features)},
          {"resident", resident > 0 ? resident : resident_bytes()},
          {"peak", peak_resident_bytes()}};
}

json devices_json(const json& parts) {
  json all = json::array();
  for (const json& part : parts) {
    const std::string device = part.value("device", "cpu");
    if (part.at("from_round") == part.at("to_round")) continue;
    if (all.empty() || all.back()["device"] != device)
      all.push_back({{"from_round", part.at("from_round")}, {"device", device}});
  }
  return all;
}

json segments_json(const json& parts) {
  json all = json::array();
  for (const json& part : parts) {
    json segment = json::object();
    for (const char* key : {"device", "version", "instruction_set", "kernel", "blas"})
      if (part.contains(key)) segment[key] = part.at(key);
    if (part.at("from_round") == part.at("to_round") && !all.empty()) continue;
    const json rounds{{"from_round", part.at("from_round")}, {"to_round", part.at("to_round")}};
    json same = all.empty() ? json() : all.back();
    if (same.is_object())
      for (const char* key : {"from_round", "to_round"}) same.erase(key);
    if (same == segment) {
      all.back()["to_round"] = rounds["to_round"];
    } else {
      segment.update(rounds);
      all.push_back(std::move(segment));
    }
  }
  return all;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace ticopd
