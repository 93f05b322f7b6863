#include "ticopd/experiment/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/data/agent_sources.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/analysis.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/problem.hpp"
#include "ticopd/experiment/shared_problems.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/memory.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

void refuse_unfit_codec(const Config& config) {
  const AlgorithmInfo& chosen = algorithm_info(config.get<std::string>("algorithm.name"));
  const std::string kind = config.get<std::string>("codec.kind");
  if (kind != "identity")
    check_lossy_codec(chosen.name, chosen.uncompressed, chosen.own_codec, "codec.kind",
                      fmt::format("codec.kind = \"{}\"", kind));
}

// All but the data.
template <class T>
Prepared<T> plan(const Config& config, int threads, Device device, Warnings& warnings) {
  const std::uint64_t drawn_with = problem_seed(config);
  const Weights weights = parse_weights(config.get<std::string>("graph.weights"));
  Prepared<T> p{.algorithm = {},
                .setup = {.graph = make_graph(graph_options(config), drawn_with), .objective = {}},
                .spectrum = {},
                .data = {},
                .labels = {}};
  Setup<T>& s = p.setup;
  s.links = link_schedule(graph_options(config));
  s.channel_noise = channel_noise(config);
  s.codec = configured_codec<T>(config);
  s.weights = weights;
  p.spectrum = spectrum(s.graph, weights);
  const AlgorithmOptions chosen = algorithm_options(config);
  check_graph(chosen.name, algorithm_needs(chosen), s.graph, s.links);
  p.algorithm = configured_algorithm<T>(config, p.spectrum, warnings, device);
  if (std::string biased = biased_codec_of(config); !biased.empty())
    warnings.push_back(std::move(biased));
  s.execution.device = device;
  s.execution.cuda.tf32 = config.get<bool>("cuda.tf32");

  if (!has_external_objective(config.tree()) && names_agent_sources(config.tree()))
    check_agent_sources(data_options(config), static_cast<std::size_t>(s.graph.agents()));
  s.seed = config.get<std::uint64_t>("seed");
  s.problem_seed = drawn_with;
  s.iterations = config.get<std::uint32_t>("iterations");
  s.watch.rounds = log_rounds(config);
  s.watch.level = metric_level(config);
  s.watch.scope = metric_scope(config, s.graph.agents());
  if (config.tree()["problem"]["batch"] != "full")
    s.batch = config.get<std::uint64_t>("problem.batch");
  if (transport_table().at(config.get<std::string>("network.transport")).ranks ==
      TransportInfo::Ranks::threads)
    s.execution.ranks = config.get<int>("network.ranks");
  if (s.execution.ranks > s.graph.agents())
    throw ConfigError(fmt::format("network.ranks = {}: allowed is at most {}, the number of agents",
                                  s.execution.ranks, s.graph.agents()));
  if (device == Device::cuda && s.execution.ranks > 1)
    throw ConfigError(
        "network.transport: with --device cuda allowed is \"none\": all agents live on one device");
  s.execution.threads = std::max(1, (threads > 0 ? threads : usable_cores()) / s.execution.ranks);
  s.execution.deadline_s = config.get<double>("network.deadline_s");
  s.saving.every_s = config.get<double>("checkpoint.every_s");
  s.saving.every = config.get<std::uint32_t>("checkpoint.every");
  return p;
}

// A process that reads only its own agents' samples must know its agents before it knows how many
// samples there are.
std::vector<int> equal_blocks(const Graph& graph, int ranks) {
  std::vector<int> blocks;
  for (int rank = 0; rank < ranks; ++rank)
    blocks.push_back(static_cast<int>(Placement(graph, ranks, rank).rows()));
  return blocks;
}

}  // namespace

Graph configured_graph(const Config& config) {
  return make_graph(graph_options(config), problem_seed(config));
}

int configured_agents(const Config& config) {
  return configured_graph(config).agents();
}

std::string biased_codec_of(const Config& config) {
  constexpr std::size_t any_dimension = 1000;  // the data are not read yet
  const AlgorithmOptions algorithm = algorithm_options(config);
  const CodecOptions codec = configured_codec_options(config);
  return biased_codec(algorithm.name, algorithm_needs(algorithm),
                      make_codec<double>(codec)->error_bound(any_dimension), &codec);
}

AlgorithmOptions configured_options(const Config& config) {
  return algorithm_options(config);
}

template <class T>
RunFactory<T> configured_algorithm(const Config& config, const Spectrum& graph, Warnings& warnings,
                                   Device device) {
  const AlgorithmOptions chosen = algorithm_options(config);
  refuse_unfit_codec(config);
  const auto iterations = config.get<std::uint32_t>("iterations");
  if (device == Device::cpu) return make_algorithm<T>(chosen, graph, warnings, iterations);
  if (!algorithm_info(chosen.name).on_devices)
    throw ConfigError(
        fmt::format("algorithm.name = \"{}\": there is no device code for it, since it "
                    "is not one of the library's; allowed: --device cpu",
                    chosen.name));
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
  refuse_unfit_codec(config);
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
Prepared<T> prepare(const Config& config, const PrepareOptions& given) {
  Warnings warnings;
  PrepareOptions options = given;
  if (options.device == Device::cuda) cuda::require_device();  // before any data is read
  Prepared<T> p = plan<T>(config, options.threads, options.device, warnings);
  if (options.device == Device::cuda && options.ranks > 1)
    throw ConfigError("--device cuda: all agents live on one device; allowed is one process");
  if (options.ranks > 1 && options.blocks.empty() && names_agent_sources(config.tree()))
    options.blocks = equal_blocks(p.setup.graph, options.ranks);
  p.setup.execution.blocks = options.blocks;
  if (options.say)
    for (const std::string& w : warnings) options.say("warning: " + w);
  p.setup.execution.may_pin = options.may_pin;
  const auto load = [&] {
    LoadedProblem<T> loaded;
    loaded.objective =
        load_objective<T>(config, options, p.setup.graph, loaded.data, loaded.labels);
    return loaded;
  };
  const bool shared = options.shared && !options.external && options.ranks == 1;
  const LoadedProblem<T> loaded =
      shared ? options.shared->get<T>(problem_key(config, p.setup.graph.agents()), load) : load();
  p.setup.objective = loaded.objective;
  p.data = loaded.data;
  p.labels = loaded.labels;
  if (config.get<bool>("log.lyapunov"))
    p.setup.watch.lyapunov = configured_lyapunov<T>(config, p, options.ranks);
  give_memory_back();
  return p;
}

template <class T>
Prepared<T> prepare_again(const Config& config, const PrepareOptions& options,
                          std::shared_ptr<const Objective<T>> objective) {
  Warnings ignored;
  Prepared<T> p = plan<T>(config, options.threads, options.device, ignored);
  p.setup.objective = std::move(objective);
  return p;
}

std::string advice_after_divergence(const Config& config) {
  if (std::string codec = biased_codec_of(config); !codec.empty()) return codec;
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
template Prepared<float> prepare_again(const Config&, const PrepareOptions&,
                                       std::shared_ptr<const Objective<float>>);
template Prepared<double> prepare_again(const Config&, const PrepareOptions&,
                                        std::shared_ptr<const Objective<double>>);

}  // namespace ticopd
