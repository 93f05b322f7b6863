#include "ticopd/tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/numeric/parse_number.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

constexpr std::size_t most_combinations = 256;

double four_digits(double v) {
  return parse_number<double>(fmt::format("{:.3e}", v)).value();
}

std::size_t index_of(const SearchAxis& axis, double coordinate) {
  const double last = static_cast<double>(axis.listed.size() - 1);
  const double at = std::floor(coordinate * static_cast<double>(axis.listed.size()));
  return static_cast<std::size_t>(std::clamp(at, 0.0, last));
}

double middle_of(const SearchAxis& axis, std::size_t index) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(axis.listed.size());
}

Spectrum configured_spectrum(const Config& config) {
  return spectrum(configured_graph(config),
                  parse_weights(config.get<std::string>("graph.weights")));
}

// The kinds of codec and graph suit each other and the algorithm, whatever its step sizes.
void check_kinds(const Config& config, int agents) {
  configured_codec<float>(config);
  const Graph graph = configured_graph(config);
  if (graph.agents() != agents)
    throw ConfigError(fmt::format(
        "graph.kind = \"{}\" has {} agents, and the file's graph has {}: that is another problem",
        config.get<std::string>("graph.kind"), graph.agents(), agents));
  const AlgorithmOptions algorithm = algorithm_options(config);
  check_graph(algorithm.name, algorithm_needs(algorithm), graph,
              link_schedule(graph_options(config)));
}

}  // namespace

struct Space::Graphs {
  std::mutex mutex;
  std::map<std::string, Spectrum> known;
};

Space::Space(const Config& config) : Space(config, configured_spectrum(config)) {}
Space::Space(Space&&) noexcept = default;
Space::~Space() = default;

Space::Space(const Config& config, const Spectrum& graph)
    : config_(config), graph_(graph), graphs_(std::make_unique<Graphs>()) {
  SearchAxes read = read_axes(config);
  axes_ = std::move(read.axes);
  kept_ = std::move(read.kept);
  config_ = Config::from_json(read.tree, config.folder());
  check_lists();
}

// Every combination of the listed values must be one that can be run. Combinations that only the
// method's own constraints forbid are left out.
void Space::check_lists() {
  std::vector<double> point(axes_.size(), 0.5);
  std::vector<std::size_t> listed;
  std::size_t combinations = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].key.starts_with("codec.") || axes_[i].key.starts_with("graph."))
      some_unused_ = true;
    if (axes_[i].listed.empty()) continue;
    listed.push_back(i);
    combinations *= axes_[i].listed.size();
    if (combinations > most_combinations)
      throw ConfigError(fmt::format(
          "tune.search: its lists have {} combinations or more; allowed are {}, since a search "
          "cannot try so many",
          combinations, most_combinations));
  }
  if (!some_unused_) return;
  const int agents = configured_agents(config_);
  std::vector<bool> used(axes_.size(), false);
  bool any = false;
  for (std::size_t c = 0; c < combinations; ++c) {
    std::size_t rest = c;
    for (const std::size_t i : listed) {
      point[i] = middle_of(axes_[i], rest % axes_[i].listed.size());
      rest /= axes_[i].listed.size();
    }
    const TriedValues values = at(point);
    try {
      const Config tried = with(values);
      check_kinds(tried, agents);
      for (std::size_t i = 0; i < axes_.size(); ++i) used[i] = used[i] || !unused(axes_[i], tried);
      const std::string biased = biased_codec_of(tried);
      any = any || biased.empty();
      if (!biased.empty() && std::ranges::find(left_out_, biased) == left_out_.end())
        left_out_.push_back(biased);
    } catch (const ConfigError& e) {
      throw ConfigError(fmt::format("tune.search: {}", e.what()));
    }
  }
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (!used[i]) {  // the config says why
      json tree = config_.tree();
      tree[pointer_to(axes_[i].key)] =
          axes_[i].listed.empty() ? json(axes_[i].low) : axes_[i].listed.front();
      try {
        Config::from_json(tree, config_.folder());
      } catch (const ConfigError& e) {
        throw ConfigError(fmt::format("tune.search: {}", e.what()));
      }
    }
  // A codec that the file itself has is a warning of the run; a list must have one that suits.
  if (!any && changes_codec()) throw ConfigError("tune.search: " + left_out_.front());
}

bool Space::searches(std::string_view section) const {
  return std::ranges::any_of(axes_,
                             [&](const SearchAxis& a) { return a.key.starts_with(section); });
}

bool Space::unused(const SearchAxis& axis, const Config& config) const {
  return !config.has(axis.key);
}

Spectrum Space::spectrum_of(const Config& config) const {
  if (!changes_graph()) return graph_;
  const std::string key = config.tree()["graph"].dump();
  const std::lock_guard lock(graphs_->mutex);
  if (const auto at = graphs_->known.find(key); at != graphs_->known.end()) return at->second;
  return graphs_->known[key] = configured_spectrum(config);
}

TriedValues Space::at(std::span<const double> point) const {
  TriedValues values;
  StepSizes all = kept_;
  double lambda_max = graph_.laplacian_max;
  const auto set = [&](std::size_t i) {
    const SearchAxis& a = axes_[i];
    if (!a.listed.empty()) {
      values[a.name] = a.listed[index_of(a, point[i])];
      return;
    }
    // The unit may depend on the parameters before this one, so the order of the axes matters.
    const double v =
        a.low * std::pow(a.high / a.low, point[i]) * a.unit(all, lambda_max > 0 ? lambda_max : 1);
    const double rounded = a.whole ? std::round(v) : std::min(four_digits(v), a.max);
    if (a.whole)
      values[a.name] = static_cast<std::int64_t>(rounded);
    else
      values[a.name] = rounded;
    all[a.counts_as] = rounded / a.divisor(all);
  };
  // The units of step sizes depend on the graph, so that codec and graph come first.
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (!axes_[i].key.starts_with("algorithm.")) set(i);
  if (some_unused_) {
    const Config tried = with(values);
    if (changes_graph()) lambda_max = spectrum_of(tried).laplacian_max;
    for (const SearchAxis& a : axes_)
      if (unused(a, tried)) values.erase(a.name);
  }
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].key.starts_with("algorithm.")) set(i);
  return values;
}

bool Space::admit(std::span<double> point) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SearchAxis& a = axes_[i];
    if (!a.listed.empty()) {
      point[i] = middle_of(a, index_of(a, point[i]));
      continue;
    }
    // Move a point beyond the limit to the limit. The best value is often the largest one allowed,
    // and inner points alone would never try it.
    const double top = std::log(a.max / a.low) / std::log(a.high / a.low);
    point[i] = std::min(point[i], a.closed ? std::min(1.0, top) : top);
    if (a.closed) point[i] = std::max(point[i], 0.0);
  }
  try {
    const TriedValues values = at(point);
    // Points that differ only in what their kind does not use would be the same trial.
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (!values.contains(axes_[i].name))
        point[i] = axes_[i].listed.empty() ? 0.5 : middle_of(axes_[i], 0);
    const Config tried = with(values);
    Warnings ignored;
    configured_algorithm<float>(tried, spectrum_of(tried), ignored);
    return !changes_codec() || biased_codec_of(tried).empty();
  } catch (const ConfigError&) {
    return false;
  }
}

Config Space::with(const TriedValues& values) const {
  json tree = config_.tree();
  for (const SearchAxis& a : axes_)
    if (const auto at = values.find(a.name); at != values.end())
      tree[pointer_to(a.key)] = at->second;
  if (some_unused_) remove_unused(tree);
  return Config::from_json(tree, config_.folder());
}

Config Space::anywhere() const {
  std::vector<double> point(axes_.size(), 0.5);
  for (int tries = 0; tries < 500 && !admit(point); ++tries)
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] = std::fmod(0.5 + tries * std::sqrt(2.0 + static_cast<double>(i)), 1.0);
  try {
    const Config found = with(at(point));
    Warnings ignored;
    configured_algorithm<float>(found, spectrum_of(found), ignored);
    return found;
  } catch (const ConfigError& e) {
    if (!config_.has("tune.search")) throw;
    throw ConfigError(fmt::format("tune.search: no point of it is allowed: {}", e.what()));
  }
}

}  // namespace ticopd
