#include "ticopd/experiment/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"

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
  if (kind == "inverse_sqrt" || kind == "inverse") parts.push_back("t0");
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

Coding coding_of(const std::string& word) {
  if (word == "entropy") return Coding::entropy;
  return word == "elias" ? Coding::elias : Coding::fixed;
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
  options.kind = config.get<std::string>("codec.kind");
  options.bits = config.get<int>("codec.bits");
  options.scaled = config.get<bool>("codec.scaled");
  options.bucket = config.get<std::uint64_t>("codec.bucket");
  if (config.has("codec.k")) options.k = config.get<std::uint64_t>("codec.k");
  if (config.has("codec.fraction")) options.fraction = config.get<double>("codec.fraction");
  options.unbiased = config.get<bool>("codec.unbiased");
  options.threshold = config.get<double>("codec.threshold");
  options.p = config.get<double>("codec.p");
  options.omega = config.get<double>("codec.omega");
  options.step = config.get<double>("codec.step");
  options.r0 = config.get<double>("codec.r0");
  options.kappa = config.get<double>("codec.kappa");
  if (config.has("codec.then")) options.then = config.get<std::string>("codec.then");
  options.coding = coding_of(config.get<std::string>("codec.coding"));
  return options;
}

GraphOptions graph_options(const Config& config) {
  GraphOptions options;
  options.kind = config.get<std::string>("graph.kind");
  options.agents = config.get<int>("graph.agents");
  options.rows = config.get<int>("graph.rows");
  options.p = config.get<double>("graph.p");
  options.radius = config.get<double>("graph.radius");
  options.drop = config.get<double>("graph.drop");
  if (config.has("graph.path"))
    options.path = config.folder() / config.get<std::string>("graph.path");
  return options;
}

ObjectiveOptions objective_options(const Config& config) {
  ObjectiveOptions options;
  options.objective = config.get<std::string>("problem.objective");
  options.hidden = config.get<std::vector<int>>("problem.hidden");
  options.activation = config.get<std::string>("problem.activation");
  options.l2 = config.get<double>("problem.l2");
  options.l2r = config.get<double>("problem.l2r");
  options.weighting = config.get<std::string>("problem.weighting");
  if (config.has("problem.init")) options.init = config.get<std::string>("problem.init");
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
  if (config.get<bool>("log.lyapunov")) requested.push_back("lyapunov");
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
  return {kind == "none"      ? ChannelNoise::Kind::none
          : kind == "uniform" ? ChannelNoise::Kind::uniform
                              : ChannelNoise::Kind::gaussian,
          scale};
}

}  // namespace ticopd
