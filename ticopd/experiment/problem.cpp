#include "ticopd/experiment/problem.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ticopd/data/agent_sources.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/numeric/fingerprint.hpp"

namespace ticopd {
namespace {

// The agents that this process hosts; `sizes` are the samples of all.
using Hosted = std::function<AgentRange(std::span<const std::size_t> sizes)>;

// Least squares given agent by agent in A.npy and b.npy: no partition.
template <class T>
Shards<T> stacked_shards(const std::filesystem::path& folder, int agents, const Hosted& hosted) {
  std::vector<std::size_t> sizes;
  const auto choose = [&](std::size_t found, std::size_t samples) {
    if (found != static_cast<std::size_t>(agents))
      throw ConfigError(fmt::format("graph.agents = {}, but {}/A.npy has {} agents", agents,
                                    folder.string(), found));
    sizes.assign(found, samples);
    return hosted(sizes);
  };
  const StackedRegression<T> stack = load_stacked<T>(folder, choose);
  std::vector<Dataset<T>> shards;
  const std::size_t m = stack.samples, d = stack.features;
  for (std::size_t i = 0; i < stack.held.count; ++i) {
    std::vector<T> a(stack.a.begin() + static_cast<std::ptrdiff_t>(i * m * d),
                     stack.a.begin() + static_cast<std::ptrdiff_t>((i + 1) * m * d));
    std::vector<double> b(stack.b.begin() + static_cast<std::ptrdiff_t>(i * m),
                          stack.b.begin() + static_cast<std::ptrdiff_t>((i + 1) * m));
    shards.emplace_back(m, d, std::move(a), std::move(b));
  }
  return {std::move(shards), static_cast<int>(stack.held.first), std::move(sizes)};
}

// Cuts the training samples into shards. Where processes share the run, each reads only the samples
// of its own agents; one alone reads all at once, which goes through the file once and not twice.
template <class T>
Shards<T> partitioned_shards(const Config& config, const DataOptions& options, int agents,
                             const Hosted& hosted, bool shared, TrainTest<T>& samples,
                             std::string& fingerprint) {
  std::vector<std::vector<std::uint32_t>> parts;  // of all agents
  std::vector<std::size_t> sizes;
  AgentRange mine;
  const Choose choose = [&](std::span<const double> labels, int classes) {
    fingerprint = Fingerprint().add(labels).hex();
    parts = partition(labels, classes, agents,
                      parse_partition(config.get<std::string>("problem.partition")),
                      config.get<double>("problem.partition_alpha"), options.seed);
    for (const auto& part : parts) sizes.push_back(part.size());
    mine = hosted(sizes);
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = mine.first; i < mine.first + mine.count; ++i)
      chosen.insert(chosen.end(), parts[i].begin(), parts[i].end());
    return chosen;
  };
  samples = load<T>(options, shared ? choose : Choose());
  if (!shared) choose(samples.train.labels(), samples.classes);
  std::vector<Dataset<T>> shards;
  std::uint32_t next = 0;  // what was chosen lies there agent by agent
  for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) {
    if (shared)
      for (std::uint32_t& place : parts[i]) place = next++;
    shards.push_back(samples.train.select(parts[i]));
  }
  samples.train = {};
  return {std::move(shards), static_cast<int>(mine.first), std::move(sizes)};
}

nlohmann::json facts_json(const ShardFacts& facts) {
  return {{"samples", facts.samples},
          {"features", facts.features},
          {"forms", facts.forms},
          {"labels", facts.labels}};
}

ShardFacts facts_from_json(const nlohmann::json& json) {
  ShardFacts facts;
  json.at("samples").get_to(facts.samples);
  json.at("features").get_to(facts.features);
  json.at("forms").get_to(facts.forms);
  json.at("labels").get_to(facts.labels);
  return facts;
}

// Each agent has samples of its own: no partition.
template <class T>
AgentSamples<T> agent_samples(const DataOptions& data, const PrepareOptions& options,
                              const Graph& graph) {
  ShareFacts share;
  if (options.gather)
    share = [&](const ShardFacts& mine) {
      std::vector<ShardFacts> all;
      for (const nlohmann::json& facts : options.gather(facts_json(mine)))
        all.push_back(facts_from_json(facts));
      return all;
    };
  const Placement mine(graph, options.ranks, options.rank, {}, options.blocks);
  return load_agent_sources<T>(data, static_cast<std::size_t>(graph.agents()),
                               {static_cast<std::size_t>(mine.first()), mine.rows()}, share);
}

// An objective that a plug-in has the data of; null if the config names another.
template <class T>
std::shared_ptr<const Objective<T>> own_objective(const Config& config, int agents) {
  const ObjectiveOptions options = objective_options(config);
  const ObjectiveInfo& info = objective_table().at(options.objective);
  const auto seed = config.get<std::uint64_t>("seed");
  check_options(objective_options_table(), info.options, options, "problem");
  if constexpr (sizeof(T) == 4)
    return info.bring_float ? info.bring_float(options, agents, seed) : nullptr;
  else
    return info.bring_double ? info.bring_double(options, agents, seed) : nullptr;
}

// The objective that a plug-in or the program brings, if it suits the config.
template <class T>
std::shared_ptr<const Objective<T>> external_objective(const Config& config,
                                                       const ExternalObjective* brought,
                                                       int agents) {
  std::shared_ptr<const Objective<T>> objective = own_objective<T>(config, agents);
  if (!objective && brought == nullptr)
    throw ConfigError(
        "problem.objective = \"external\": this objective is of a program in C++ or Python, which "
        "must bring it; allowed here are mlp, softmax, logistic, nonconvex_logistic, "
        "least_squares");
  if (!objective) objective = brought->in<T>();
  if (!objective)
    throw ConfigError(
        fmt::format("precision = \"{}\": the external objective has no gradients in it",
                    config.get<std::string>("precision")));
  if (objective->agents() != agents)
    throw ConfigError(fmt::format("graph.agents: the graph has {} agents, and the objective has {}",
                                  agents, objective->agents()));
  return objective;
}

}  // namespace

template <class T>
std::shared_ptr<const Objective<T>> load_objective(const Config& config,
                                                   const PrepareOptions& options,
                                                   const Graph& graph, std::string& name,
                                                   std::string& labels) {
  if (has_external_objective(config.tree())) {
    name = config.get<std::string>("problem.objective");
    if (config.has("problem.name")) name = config.get<std::string>("problem.name");
    return external_objective<T>(config, options.external.get(), graph.agents());
  }
  DataOptions data = data_options(config);
  data.offline = options.offline;
  if (options.say) data.say = [say = options.say](const std::string& text) { say(text); };
  const ObjectiveOptions objective = objective_options(config);
  const Hosted hosted = [&](std::span<const std::size_t> sizes) -> AgentRange {
    const Placement dealt(graph, options.ranks, options.rank, sizes, options.blocks);
    return {static_cast<std::size_t>(dealt.first()), dealt.rows()};
  };
  name = data.data;
  if (has_agent_sources(data.data)) {
    AgentSamples<T> samples = agent_samples<T>(data, options, graph);
    const Placement mine(graph, options.ranks, options.rank, {}, options.blocks);
    return make_objective<T>(objective,
                             {std::move(samples.shards), mine.first(), std::move(samples.samples)},
                             std::move(samples.test), samples.classes);
  }
  const std::filesystem::path stacked =
      objective.objective == "least_squares" ? stacked_folder(data) : std::filesystem::path();
  if (!stacked.empty())
    return make_objective<T>(objective, stacked_shards<T>(stacked, graph.agents(), hosted), {}, 0);
  TrainTest<T> samples;
  Shards<T> shards = partitioned_shards<T>(config, data, graph.agents(), hosted, options.ranks > 1,
                                           samples, labels);
  return make_objective<T>(objective, std::move(shards), std::move(samples.test), samples.classes);
}

template std::shared_ptr<const Objective<float>> load_objective(const Config&,
                                                                const PrepareOptions&, const Graph&,
                                                                std::string&, std::string&);
template std::shared_ptr<const Objective<double>> load_objective(const Config&,
                                                                 const PrepareOptions&,
                                                                 const Graph&, std::string&,
                                                                 std::string&);

}  // namespace ticopd
