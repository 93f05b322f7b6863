#include "ticopd/experiment/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/codecs/table.hpp"
#include "ticopd/data/agent_sources.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/values.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// A number, or a table such as { schedule = "inverse_sqrt", c = 0.1, t0 = 10 }.
Schedule read_schedule(const std::string& key, const json& value) {
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  if (value.is_number())
    throw ConfigError(fmt::format("{} = {}: allowed is a finite number", key, value.get<double>()));
  if (!value.is_object() || !value.contains("schedule") || !value["schedule"].is_string())
    throw ConfigError(
        fmt::format("{} = {}: allowed is a number, or a table such as "
                    "{{ schedule = \"inverse_sqrt\", c = 0.1, t0 = 10 }}",
                    key, value.dump()));
  const std::string kind = value["schedule"];
  static constexpr std::string_view kinds[] = {"constant", "inverse_sqrt", "inverse", "step"};
  if (std::ranges::find(kinds, kind) == std::end(kinds))
    throw ConfigError(not_allowed(key + ".schedule", kind, kinds));
  std::vector<std::string_view> parts{"schedule", "c"};
  if (kind == "inverse_sqrt" || kind == "inverse") parts.emplace_back("t0");
  if (kind == "step") parts.insert(parts.end(), {"factor", "every"});
  for (const auto& [name, ignored] : value.items())
    if (std::ranges::find(parts, name) == parts.end())
      throw ConfigError(not_allowed(key + ": key", name, parts));
  const auto number = [&](const char* name, double low) {
    if (!value.contains(name) || !value[name].is_number() || !(value[name].get<double>() >= low) ||
        !std::isfinite(value[name].get<double>()))
      throw ConfigError(fmt::format("{}.{}: schedule \"{}\" needs a number of at least {}", key,
                                    name, kind, low));
    return value[name].get<double>();
  };
  if (kind == "inverse_sqrt") return Schedule::inverse_sqrt(number("c", 0), number("t0", 0));
  if (kind == "inverse") return Schedule::inverse(number("c", 0), number("t0", 0));
  if (kind == "step")
    return Schedule::step(number("c", 0), number("factor", 0), number("every", 1));
  return number("c", 0);
}

// What the table [section] of a config says of these options.
template <class Options>
void read_options(const Config& config, const std::string& section,
                  const Table<Option<Options>>& table, Options& options) {
  const json& given = config.tree().at(section);
  for (const Option<Options>& o : table) {
    if (!given.contains(o.name)) continue;
    OptionValue value = option_value(given[o.name]);
    if (o.domain.kind == Domain::Kind::file)
      value = (config.folder() / std::get<std::string>(value)).string();
    o.set(options, o.name, value);
  }
}

}  // namespace

AlgorithmOptions algorithm_options(const Config& config) {
  AlgorithmOptions options;
  options.name = config.get<std::string>("algorithm.name");
  const auto& parameters = algorithm_info(options.name).parameters;
  for (const auto& [key, value] : config.tree()["algorithm"].items()) {
    if (key == "name") continue;
    if (value.is_boolean() &&
        std::ranges::find(parameters, key, &ParameterInfo::name) == parameters.end())
      options.flags[key] = value;
    else if (value.is_string() &&
             std::ranges::find(parameters, key, &ParameterInfo::name) == parameters.end())
      options.words[key] = value;
    else
      options.parameters[key] = read_schedule("algorithm." + key, value);
  }
  return options;
}

CodecOptions codec_options(const Config& config) {
  CodecOptions options;
  read_options(config, "codec", codec_options_table(), options);
  return options;
}

GraphOptions graph_options(const Config& config) {
  GraphOptions options;
  options.agents = GraphOptions::all_named;  // left out only if the kind counts them
  read_options(config, "graph", graph_options_table(), options);
  return options;
}

ObjectiveOptions objective_options(const Config& config) {
  ObjectiveOptions options;
  read_options(config, "problem", objective_options_table(), options);
  return options;
}

std::uint64_t problem_seed(const Config& config) {
  return config.get<std::uint64_t>(config.has("problem.seed") ? "problem.seed" : "seed");
}

DataOptions data_options(const Config& config) {
  DataOptions options;
  read_options(config, "problem", data_options_table(), options);
  if (has_agent_sources(options.data) && !config.has("problem.features")) options.features = 0;
  options.base = config.folder();
  options.seed = problem_seed(config);
  options.regression =
      objective_table().at(config.get<std::string>("problem.objective")).labels == Labels::targets;
  return options;
}

LogRounds log_rounds(const Config& config) {
  LogRounds log{.points = config.get<std::uint32_t>("log.points")};
  if (config.has("log.every")) log.every = config.get<std::uint32_t>("log.every");
  return log;
}

MetricLevel metric_level(const Config& config) {
  return level_of(config.get<std::string>("log.level"));
}

MetricScope metric_scope(const Config& config, int agents) {
  const auto measured = config.get<std::uint64_t>("log.agents");
  if (measured > static_cast<std::uint64_t>(agents))
    throw ConfigError(fmt::format("log.agents = {}: allowed is at most {}, the number of agents",
                                  measured, agents));
  return {.samples = config.get<std::uint64_t>("log.samples"), .agents = measured};
}

MetricColumns configured_columns(const Config& config) {
  std::vector<std::string_view> requested;
  if (config.get<bool>("log.lyapunov")) requested.emplace_back("lyapunov");
  return metric_columns(metric_level(config), requested);
}

ChannelNoise channel_noise(const Config& config) {
  const std::string kind = config.get<std::string>("network.noise");
  const double scale = config.get<double>("network.noise_scale");
  if ((kind == "none") != (scale == 0))
    throw ConfigError(fmt::format(
        "network.noise = \"{}\" with network.noise_scale = {}: a noisy channel needs both, a kind "
        "and a scale above 0",
        kind, scale));
  constexpr auto words = words_of(ChannelNoise::Kind{});
  const auto found = std::ranges::find(words, kind);
  return {static_cast<ChannelNoise::Kind>(found - words.begin()), scale};
}

}  // namespace ticopd
