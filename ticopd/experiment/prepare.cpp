#include "ticopd/experiment/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/machine.hpp"
#include "ticopd/network/cores.hpp"
#include "ticopd/network/plan.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/theory/survey.hpp"

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

Coding coding_of(const std::string& word) {
  if (word == "entropy") return Coding::entropy;
  return word == "elias" ? Coding::elias : Coding::fixed;
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

DataOptions data_options(const Config& config, const PrepareOptions& options) {
  DataOptions data;
  data.data = config.get<std::string>("problem.data");
  data.base = config.folder();
  if (config.has("problem.test")) data.test = config.get<std::string>("problem.test");
  data.normalize = config.get<bool>("problem.normalize");
  data.max_samples = config.get<std::uint64_t>("problem.max_samples");
  data.samples = config.get<std::uint64_t>("problem.samples");
  data.features = config.get<std::uint64_t>("problem.features");
  data.classes = config.get<int>("problem.classes");
  data.seed = config.get<std::uint64_t>("seed");
  data.offline = options.offline;
  for (const ObjectiveInfo& info : objective_table())
    if (info.name == config.get<std::string>("problem.objective"))
      data.regression = info.labels == Labels::targets;
  if (options.say) data.say = [say = options.say](const std::string& text) { say(text); };
  return data;
}

// The agents that this process hosts; `sizes` are the samples of all.
using Hosted = std::function<Stretch(std::span<const std::size_t> sizes)>;

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
                             const Hosted& hosted, bool shared, TrainTest<T>& samples) {
  std::vector<std::vector<std::uint32_t>> parts;  // of all agents
  std::vector<std::size_t> sizes;
  Stretch mine;
  const Choose choose = [&](std::span<const double> labels, int classes) {
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

// What a device computes with, where it can: the samples once more, in the layouts of its kernels.
std::shared_ptr<const cuda::Problem> device_problem(const ObjectiveOptions& objective,
                                                    const Shards<float>& shards,
                                                    const Dataset<float>& test, int classes) {
  auto problem = std::make_shared<cuda::Problem>();
  const std::size_t features = shards.hosted.front().features();
  if (objective.objective == "mlp" || objective.objective == "softmax") {
    problem->widths.push_back(features);
    if (objective.objective == "mlp") {
      problem->phi = activation_of(objective.activation);
      for (const int width : objective.hidden)
        problem->widths.push_back(static_cast<std::size_t>(width));
    }
    problem->widths.push_back(static_cast<std::size_t>(classes));
  } else if (objective.objective == "logistic" || objective.objective == "least_squares") {
    problem->loss = objective.objective == "logistic" ? cuda::Problem::Loss::logistic
                                                      : cuda::Problem::Loss::least_squares;
    problem->widths = {features, 1};
  } else {
    return nullptr;  // the CPU's
  }
  problem->shards = shards.hosted;
  if (problem->loss != cuda::Problem::Loss::least_squares) problem->test = test;
  problem->l2 = objective.l2;
  problem->weight_by_sample = objective.weighting == "sample";
  return problem;
}

template <class T>
std::shared_ptr<const Objective<T>> load_objective(const Config& config,
                                                   const PrepareOptions& options,
                                                   const Graph& graph, std::string& name,
                                                   cuda::Options& device) {
  const DataOptions data = data_options(config, options);
  const ObjectiveOptions objective = objective_options(config);
  const Hosted hosted = [&](std::span<const std::size_t> sizes) -> Stretch {
    const Plan dealt(graph, options.ranks, options.rank, sizes);
    return {static_cast<std::size_t>(dealt.first()), dealt.rows()};
  };
  name = data.data;
  if (objective.objective == "least_squares" && data.data.starts_with("npy:")) {
    const std::filesystem::path folder = config.folder() / data.data.substr(4);
    if (std::filesystem::exists(folder / "A.npy")) {
      Shards<T> shards = stacked_shards<T>(folder, graph.agents(), hosted);
      if constexpr (std::is_same_v<T, float>)
        if (options.device == Device::cuda)
          device.problem = device_problem(objective, shards, {}, 0);
      return make_objective<T>(objective, std::move(shards), {}, 0);
    }
  }
  TrainTest<T> samples;
  Shards<T> shards =
      partitioned_shards<T>(config, data, graph.agents(), hosted, options.ranks > 1, samples);
  std::shared_ptr<const cuda::Problem> problem;
  if constexpr (std::is_same_v<T, float>)
    if (options.device == Device::cuda)
      problem = device_problem(objective, shards, samples.test, samples.classes);
  auto made =
      make_objective<T>(objective, std::move(shards), std::move(samples.test), samples.classes);
  device.problem = problem;  // checked by now
  return made;
}

void refuse_lossy_codec(const AlgorithmInfo& algorithm, const std::string& codec) {
  if (algorithm.own_codec && codec != "identity")
    throw ConfigError(
        fmt::format("codec.kind = \"{}\": {} brings a codec of its own, leave codec.kind out",
                    codec, algorithm.name));
  if (algorithm.uncompressed && codec != "identity")
    throw ConfigError(
        fmt::format("codec.kind = \"{}\": {} sends its model as it is, allowed is identity; for "
                    "compressed messages "
                    "take algorithm.name = \"choco_sgd\", or \"dgd_quantized\" to see why "
                    "quantising the model itself fails",
                    codec, algorithm.name));
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

void refuse_unfit_graph(const Config& config, const Graph& graph, const LinkSchedule& links) {
  const AlgorithmOptions chosen = algorithm_options(config);
  const AlgorithmNeeds needs = algorithm_needs(chosen);
  if (needs.centre) require_centre(graph);
  if (links.one_edge && links.drop > 0)
    throw ConfigError(fmt::format(
        "graph.drop = {}: with graph.kind = \"random_edge\" one edge is all there is in a round",
        links.drop));
  if (links.varies() && (needs.centre || needs.fixed_graph))
    throw ConfigError(fmt::format(
        "graph.drop, graph.kind = \"random_edge\": {} needs all of its links in every round",
        chosen.name));
}

// All but the data.
template <class T>
Prepared<T> plan(const Config& config, int threads, Device device, Warnings& warnings) {
  const std::uint64_t seed = config.get<std::uint64_t>("seed");
  const Weights weights = parse_weights(config.get<std::string>("graph.weights"));
  Prepared<T> p{.algorithm = {},
                .setup = {.graph = make_graph(graph_options(config), seed), .objective = {}},
                .spectrum = {},
                .data = {}};
  Setup<T>& s = p.setup;
  s.links = link_schedule(graph_options(config));
  s.channel_noise = channel_noise(config);
  s.codec = configured_codec<T>(config);
  s.weights = weights;
  p.spectrum = spectrum(s.graph, weights);
  refuse_unfit_graph(config, s.graph, s.links);
  p.algorithm = configured_algorithm<T>(config, p.spectrum, warnings, device);
  s.device = device;
  s.cuda.codec = configured_codec_options(config);
  s.cuda.tf32 = config.get<bool>("cuda.tf32");

  s.seed = seed;
  s.iterations = config.get<std::uint32_t>("iterations");
  s.log.points = config.get<std::uint32_t>("log.points");
  if (config.has("log.every")) s.log.every = config.get<std::uint32_t>("log.every");
  if (config.tree()["problem"]["batch"] != "full")
    s.batch = config.get<std::uint64_t>("problem.batch");
  if (config.get<std::string>("network.transport") == "threads")
    s.ranks = config.get<int>("network.ranks");
  if (s.ranks > s.graph.agents())
    throw ConfigError(fmt::format("network.ranks = {}: allowed is at most {}, the number of agents",
                                  s.ranks, s.graph.agents()));
  s.threads = std::max(1, (threads > 0 ? threads : usable_cores()) / s.ranks);
  s.deadline_s = config.get<double>("network.deadline_s");
  s.checkpoint_every_s = config.get<double>("checkpoint.every_s");
  s.checkpoint_every = config.get<std::uint32_t>("checkpoint.every");
  return p;
}

}  // namespace

AlgorithmOptions configured_options(const Config& config) {
  return algorithm_options(config);
}

template <class T>
RunFactory<T> configured_algorithm(const Config& config, const Spectrum& graph, Warnings& warnings,
                                   Device device) {
  const AlgorithmOptions chosen = algorithm_options(config);
  refuse_lossy_codec(algorithm_info(chosen.name), config.get<std::string>("codec.kind"));
  const auto iterations = config.get<std::uint32_t>("iterations");
  if (device == Device::cpu) return make_algorithm<T>(chosen, graph, warnings, iterations);
  if constexpr (std::is_same_v<T, float>)
    return cuda::make_algorithm(chosen, graph, warnings, iterations);
  else
    throw ConfigError("precision = \"double\": with --device cuda allowed is \"float\"");
}

CodecOptions configured_codec_options(const Config& config) {
  return algorithm_needs(algorithm_options(config)).codec.value_or(codec_options(config));
}

template <class T>
std::shared_ptr<const Codec<T>> configured_codec(const Config& config) {
  refuse_lossy_codec(algorithm_info(config.get<std::string>("algorithm.name")),
                     config.get<std::string>("codec.kind"));
  return make_codec<T>(configured_codec_options(config));
}

Warnings check(const Config& config, Device device) {
  Warnings warnings;
  if (config.get<std::string>("precision") == "double")
    plan<double>(config, 1, device, warnings);
  else
    plan<float>(config, 1, device, warnings);
  return warnings;
}

template <class T>
Prepared<T> prepare(const Config& config, const PrepareOptions& options) {
  Warnings warnings;
  if (options.device == Device::cuda) cuda::require_device();  // before any data is read
  Prepared<T> p = plan<T>(config, options.threads, options.device, warnings);
  if (options.device == Device::cuda && (p.setup.ranks > 1 || options.ranks > 1))
    throw ConfigError(
        "network.transport: with --device cuda allowed is \"none\": all agents live on one device");
  if (options.say)
    for (const std::string& w : warnings) options.say("warning: " + w);
  p.setup.objective = load_objective<T>(config, options, p.setup.graph, p.data, p.setup.cuda);
  if (config.get<bool>("log.lyapunov"))
    p.setup.lyapunov = configured_lyapunov<T>(config, p, options.ranks);
  give_memory_back();
  return p;
}

std::string step_sizes(const Config& config) {
  const json& table = config.tree()["algorithm"];
  std::string text;
  for (const ParameterInfo& p : algorithm_info(table["name"].get<std::string>()).parameters)
    if ((p.required || p.search_high > 0) && table.contains(p.name))
      text += fmt::format("{}{}algorithm.{} (now {})", text.empty() ? "" : ", ",
                          p.inverse      ? "raise "
                          : text.empty() ? "lower "
                                         : "",
                          p.name, table[p.name].dump());
  return text;
}

template RunFactory<float> configured_algorithm<float>(const Config&, const Spectrum&, Warnings&,
                                                       Device);
template RunFactory<double> configured_algorithm<double>(const Config&, const Spectrum&, Warnings&,
                                                         Device);
template std::shared_ptr<const Codec<float>> configured_codec<float>(const Config&);
template std::shared_ptr<const Codec<double>> configured_codec<double>(const Config&);
template Prepared<float> prepare<float>(const Config&, const PrepareOptions&);
template Prepared<double> prepare<double>(const Config&, const PrepareOptions&);

}  // namespace ticopd
