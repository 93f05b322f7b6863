#include "ticopd/site/own_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/data/agent_sources.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/prepare.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// In the precision of the run, whose rounding the moments have.
template <class T>
void state_shard_facts(const DataOptions& options, std::size_t agents, json& problem) {
  const AgentSamples<T> found = load_agent_sources<T>(options, agents, {0, agents});
  problem["features"] = found.features;
  problem["shard_samples"] = found.samples;
  if (options.normalize) {
    problem["means"] = found.moments.mean;
    problem["deviations"] = found.moments.deviation;
  }
  if (options.regression) return;
  problem["labels"] = json::array();
  for (const double label : found.labels) {
    if (std::abs(label) > INT32_MAX)
      throw FormatError(
          fmt::format("problem.data: the label {}: between sites allowed are {} to {}", label,
                      -INT32_MAX, INT32_MAX));
    problem["labels"].push_back(static_cast<int>(label));
  }
}

}  // namespace

Config with_own_data(const Config& config, const std::string& data, const std::string& test) {
  json tree = config.tree();
  json& problem = tree["problem"];
  const auto named = problem["data"].get<std::string>();
  if (data.empty() && named.find(':') != std::string::npos)
    throw ConfigError(fmt::format(
        "problem.data = \"{}\": a path of the roster is not used; say with --data what "
        "to read here{}",
        named, has_agent_sources(named) ? ", with {agent} where an agent's number stands" : ""));
  if (!data.empty()) {
    if (has_agent_sources(named) && !has_agent_sources(data))
      throw ConfigError(fmt::format(
          "--data {}: in this network each agent has samples of its own (problem.data = "
          "\"{}\"); expected {{agent}} where the agent's number stands",
          data, named));
    if (!has_agent_sources(named) && has_agent_sources(data))
      throw ConfigError(
          fmt::format("--data {}: in this network the samples are divided (problem.data = \"{}\"); "
                      "expected one source for all agents, without {{agent}}",
                      data, named));
    problem["data"] = data;
  }
  if (!test.empty())
    problem["test"] = test;
  else if (problem.value("test", json("")) != json(""))
    throw ConfigError(fmt::format(
        "problem.test = {}: a path of the roster is not used; say with --test what to read here",
        problem["test"].dump()));
  return Config::resolved(std::move(tree), ".");
}

void check_shard_facts(const Config& config) {
  if (!names_agent_sources(config.tree())) return;
  if (const auto missing = missing_shard_fact(data_options(config)); !missing.empty())
    throw ConfigError(fmt::format(
        "{}: is missing: a site reads only the samples of its own agents, so the roster "
        "says problem.features, problem.labels (of classes) and problem.shard_samples of all, and "
        "to normalize problem.means and problem.deviations",
        missing));
}

Config with_shard_facts(const Config& config) {
  if (!names_agent_sources(config.tree())) return config;
  const DataOptions options = data_options(config);
  if (missing_shard_fact(options).empty()) return config;
  const auto agents = static_cast<std::size_t>(configured_agents(config));
  json tree = config.tree();
  try {
    const auto state = config.get<std::string>("precision") == "double" ? state_shard_facts<double>
                                                                        : state_shard_facts<float>;
    state(options, agents, tree["problem"]);
  } catch (const FormatError& e) {
    throw FormatError(
        fmt::format("{}; the samples of all agents are read here unless the file says {}", e.what(),
                    options.normalize ? "problem.features, problem.labels, problem.shard_samples, "
                                        "problem.means and problem.deviations"
                                      : "problem.features, problem.labels and "
                                        "problem.shard_samples"));
  }
  return Config::resolved(std::move(tree), config.folder());
}

}  // namespace ticopd
