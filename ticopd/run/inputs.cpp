#include "ticopd/run/inputs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/network/placement.hpp"
#include "ticopd/numeric/fingerprint.hpp"
#include "ticopd/run/traffic_record.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

std::string of_graph(const Graph& graph) {
  Fingerprint all;
  all.add_size(static_cast<std::uint64_t>(graph.agents()));
  for (int i = 0; i < graph.agents(); ++i) all.add(graph.neighbours(i));
  return all.hex();
}

template <class T>
std::string of_start(const Setup<T>& s) {
  std::vector<T> x(s.objective->dimension());
  s.objective->start(s.seed_of_problem(), x);
  return Fingerprint().add(x).hex();
}

json to_json(const SampleRecord& record, std::size_t samples) {
  json all{{"samples", samples}};
  if (!record.fingerprint.empty()) all["data"] = record.fingerprint;
  if (record.labels.empty()) return all;
  all["labels"] = json::array();
  for (const auto& [label, count] : record.labels) all["labels"].push_back({label, count});
  return all;
}

template <class T>
Placement placement_of(const Setup<T>& s, const Transport& transport) {
  std::vector<std::size_t> sizes;
  for (int i = 0; i < s.objective->agents(); ++i) sizes.push_back(s.objective->samples(i));
  return {s.graph, transport.size(), transport.rank(), sizes, s.execution.blocks};
}

}  // namespace

template <class T>
json hosted_inputs(const Setup<T>& setup, const Placement& placement) {
  const Objective<T>& f = *setup.objective;
  json all{{"graph", of_graph(setup.graph)}, {"start", of_start(setup)}};
  if (f.test_samples() > 0) all["test"] = to_json(f.test_record(), f.test_samples());
  all["agents"] = json::array();
  for (std::size_t row = 0; row < placement.rows(); ++row) {
    const int agent = placement.agent(row);
    all["agents"].push_back(to_json(f.sample_record(agent), f.samples(agent)));
  }
  return all;
}

template <class T>
json inputs_of(const Setup<T>& setup, Transport& transport) {
  json all = hosted_inputs(setup, placement_of(setup, transport));
  const json mine = std::exchange(all["agents"], json::array());
  for (const json& rank : all_gather_json(transport, mine))
    for (const json& agent : rank) all["agents"].push_back(agent);
  return all;
}

template json hosted_inputs(const Setup<float>&, const Placement&);
template json hosted_inputs(const Setup<double>&, const Placement&);
template json inputs_of(const Setup<float>&, Transport&);
template json inputs_of(const Setup<double>&, Transport&);

std::string difference_of_inputs(const json& now, const json& then) {
  if (!now.is_object() || !then.is_object()) return {};
  const auto of = [](const json& inputs, const char* key) { return inputs.value(key, json()); };
  const auto differ = [](const json& a, const json& b) {
    return !a.is_null() && !b.is_null() && a != b;
  };
  if (differ(of(now, "graph"), of(then, "graph"))) return "the graph is another one";
  if (differ(of(now, "start"), of(then, "start"))) return "the start is another one";
  const auto of_samples = [&](const json& a, const json& b, const std::string& whose) {
    if (!a.is_object() || !b.is_object()) return std::string();
    const json samples = of(a, "samples"), samples_then = of(b, "samples");
    if (differ(samples, samples_then))
      return fmt::format("{} {} samples now and had {}", whose, samples.dump(),
                         samples_then.dump());
    if (differ(of(a, "data"), of(b, "data"))) return whose + " other data";
    return std::string();
  };
  const json agents = of(now, "agents"), agents_then = of(then, "agents");
  if (agents.is_array() && agents_then.is_array()) {
    if (agents.size() != agents_then.size())
      return fmt::format("there are {} agents now and were {}", agents.size(), agents_then.size());
    for (std::size_t i = 0; i < agents.size(); ++i)
      if (std::string what = of_samples(agents[i], agents_then[i], fmt::format("agent {} has", i));
          !what.empty())
        return what;
  }
  return of_samples(of(now, "test"), of(then, "test"), "the test set has");
}

}  // namespace ticopd
