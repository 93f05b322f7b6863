#include "ticopd/tune/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/numeric/parse_number.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

double four_digits(double v) {
  return parse_number<double>(fmt::format("{:.3e}", v)).value();
}

bool is_range(const json& v) {
  return v.is_array() && v.size() == 2 && v[0].is_number() && v[1].is_number();
}

SearchAxis asked_for(const ParameterInfo& p, const json& range) {
  const double low = range[0], high = range[1];
  // Far from the ends of double: points between low and high are powers and ratios of these.
  constexpr double least = 1e-100, most = 1e100;
  if (!(low >= least) || !(high > low) || !(high <= most) || high > p.range.high)
    throw ConfigError(fmt::format(
        "tune.search.{} = {}: allowed is [low, high] with 0 < low < high, from {:g} to {:g}",
        p.name, range.dump(), least, std::min(most, p.range.high)));
  return {std::string(p.name), low,      high, true, p.range.high, [](const auto&) { return 1.0; },
          p.range.whole,       p.inverse};
}

SearchAxis declared(const ParameterInfo& p, double lambda_max) {
  return {std::string(p.name),
          p.search_low,
          p.search_high,
          false,
          p.range.high,
          [unit = p.unit, lambda_max](const StepSizes& before) { return unit(before, lambda_max); },
          false,
          p.inverse};
}

// Validates a fixed value here: the algorithm would complain only when a trial begins.
void check_kept(const ParameterInfo& p, double v) {
  if (p.range.whole && v != std::floor(v))
    throw ConfigError(fmt::format("tune.search.{} = {}: allowed is a whole number", p.name, v));
  if (std::isfinite(v) && v <= p.range.high &&
      (p.range.low_allowed ? v >= p.range.low : v > p.range.low))
    return;
  throw ConfigError(
      fmt::format("tune.search.{} = {}: allowed is {} {}{}", p.name, v,
                  p.range.low_allowed ? "at least" : "above", p.range.low,
                  std::isinf(p.range.high) ? "" : fmt::format(", at most {}", p.range.high)));
}

// A schedule counts with its first value.
void keep(StepSizes& kept, const std::string& name, const json& value) {
  if (value.is_number()) kept[name] = value;
  if (value.is_object() && value.contains("c") && value["c"].is_number()) kept[name] = value["c"];
}

}  // namespace

Space::Space(const Config& config, const Spectrum& graph) : config_(config), graph_(graph) {
  json tree = config.tree();
  json& table = tree["algorithm"];
  const AlgorithmInfo& info = algorithm_info(table["name"].get<std::string>());
  const json search = config.has("tune.search") ? tree["tune"]["search"] : json::object();
  std::vector<std::string_view> names;
  for (const ParameterInfo& p : info.parameters) names.push_back(p.name);
  for (const auto& [name, value] : search.items()) {
    if (std::ranges::find(names, name) == names.end())
      throw ConfigError(
          not_allowed("tune.search: parameter of " + std::string(info.name), name, names));
    if (!is_range(value) && !value.is_number())
      throw ConfigError(
          fmt::format("tune.search.{} = {}: allowed is a range [low, high], or one number to keep",
                      name, value.dump()));
  }
  for (const ParameterInfo& p : info.parameters) {
    const std::string name(p.name);
    const json asked = search.value(name, json());
    if (asked.is_number()) {
      check_kept(p, asked);
      table[name] = asked;
    }
    if (is_range(asked))
      axes_.push_back(asked_for(p, asked));
    else if (asked.is_null() && (p.required || !p.derived.empty()) && p.search_high > 0)
      axes_.push_back(declared(p, graph.laplacian_max > 0 ? graph.laplacian_max : 1));
    else if (table.contains(name))
      keep(kept_, name, table[name]);
  }
  if (axes_.empty())
    throw ConfigError(fmt::format("tune.search: nothing to search for; {} has {}", info.name,
                                  fmt::join(names, ", ")));
  config_ = Config::from_json(tree, config.folder());
}

StepSizes Space::at(std::span<const double> point) const {
  StepSizes all = kept_, values;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SearchAxis& a = axes_[i];
    // The unit may depend on the parameters before this one, so the order of the axes matters.
    const double v = a.low * std::pow(a.high / a.low, point[i]) * a.unit(all);
    all[a.name] = values[a.name] = a.whole ? std::round(v) : std::min(four_digits(v), a.max);
  }
  return values;
}

bool Space::admit(std::span<double> point) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SearchAxis& a = axes_[i];
    // Move a point beyond the limit to the limit. The best value is often the largest one allowed,
    // and inner points alone would never try it.
    const double top = std::log(a.max / a.low) / std::log(a.high / a.low);
    point[i] = std::min(point[i], a.closed ? std::min(1.0, top) : top);
    if (a.closed) point[i] = std::max(point[i], 0.0);
  }
  try {
    Warnings ignored;
    configured_algorithm<float>(with(at(point)), graph_, ignored);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

Config Space::with(const StepSizes& values) const {
  json tree = config_.tree();
  for (const auto& [name, value] : values) tree["algorithm"][name] = value;
  return Config::from_json(tree, config_.folder());
}

}  // namespace ticopd
