#include "ticopd/tune/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/values.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// Far from the ends of double: points between low and high are powers and ratios of these.
constexpr double least = 1e-100, most = 1e100;

struct Ends {
  double low, high;
};

// [low, high] or {low = 0.1, high = 1}.
std::optional<Ends> ends_of(const json& v) {
  if (v.is_array() && v.size() == 2 && v[0].is_number() && v[1].is_number())
    return Ends{v[0], v[1]};
  if (v.is_object() && v.size() == 2 && v.contains("low") && v.contains("high") &&
      v["low"].is_number() && v["high"].is_number())
    return Ends{v["low"], v["high"]};
  return std::nullopt;
}

std::string text_of(const Ends& ends) {
  return fmt::format("[{}, {}]", ends.low, ends.high);
}

void check_ends(const std::string& name, const Ends& ends, double above) {
  if (!(ends.low >= least) || !(ends.high > ends.low) || !(ends.high <= std::min(most, above)))
    throw ConfigError(fmt::format(
        "tune.search.{} = {}: allowed is [low, high] with 0 < low < high, from {:g} to {:g}", name,
        text_of(ends), least, std::min(most, above)));
}

double one(const StepSizes&) {
  return 1;
}

SearchAxis asked_for(const std::string& name, const Ends& ends, double above, bool whole,
                     bool inverse) {
  check_ends(name, ends, above);
  return {.name = name,
          .low = ends.low,
          .high = ends.high,
          .max = above,
          .unit = [](const StepSizes&, double) { return 1.0; },
          .whole = whole,
          .inverse = inverse,
          .key = "algorithm." + name,
          .counts_as = name,
          .divisor = one};
}

SearchAxis declared(const ParameterInfo& p) {
  return {.name = std::string(p.name),
          .low = p.search_low,
          .high = p.search_high,
          .closed = false,
          .max = p.range.high,
          .unit = p.unit,
          .inverse = p.inverse,
          .key = "algorithm." + std::string(p.name),
          .counts_as = std::string(p.name),
          .divisor = one};
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

// The keys of a search with their values; tables [tune.search.codec] become dotted keys.
std::map<std::string, json> entries_of(const Config& config) {
  std::map<std::string, json> all;
  if (!config.has("tune.search")) return all;
  for (const auto& [name, value] : config.tree()["tune"]["search"].items()) {
    const bool section = name == "codec" || name == "graph" || name == "algorithm";
    if (!section || !value.is_object()) {
      all[name.starts_with("algorithm.") ? name.substr(10) : name] = value;
      continue;
    }
    for (const auto& [inner, part] : value.items())
      all[name == "algorithm" ? inner : name + "." + inner] = part;
  }
  return all;
}

class Reader {
 public:
  explicit Reader(const Config& config)
      : entries_(entries_of(config)),
        info_(algorithm_info(config.tree()["algorithm"]["name"].get<std::string>())) {
    found_.tree = config.tree();
  }

  SearchAxes operator()() {
    for (const ParameterInfo& p : info_.parameters) read_parameter(p);
    for (const auto& [name, value] : entries_) read_key(name, value);
    if (found_.axes.empty()) {
      std::vector<std::string_view> names;
      for (const ParameterInfo& p : info_.parameters) names.push_back(p.name);
      throw ConfigError(fmt::format("tune.search: nothing to search for; {} has {}", info_.name,
                                    fmt::join(names, ", ")));
    }
    return std::move(found_);
  }

 private:
  void read_parameter(const ParameterInfo& p) {
    const std::string name(p.name);
    json& table = found_.tree["algorithm"];
    const auto at = entries_.find(name);
    if (at == entries_.end()) {
      if (p.search_high > 0)
        found_.axes.push_back(declared(p));
      else if (table.contains(name))
        keep(found_.kept, name, table[name]);
      return;
    }
    const json given = at->second;
    entries_.erase(at);
    if (given.is_number()) {
      check_kept(p, given);
      table[name] = given;
      keep(found_.kept, name, given);
    } else if (const auto ends = ends_of(given)) {
      found_.axes.push_back(asked_for(name, *ends, p.range.high, p.range.whole, p.inverse));
    } else if (given.is_object() && given.contains("schedule")) {
      read_schedule(p, given);
    } else {
      throw ConfigError(fmt::format(
          "tune.search.{} = {}: allowed is a range [low, high], one number to keep, or a schedule "
          "such as {{ schedule = \"inverse_sqrt\", c = [0.1, 10], t0 = 100 }}",
          name, given.dump()));
    }
  }

  // The constants of a schedule: each one number to keep, or a range. Without c its range is such
  // that the step size begins in the range of the parameter.
  void read_schedule(const ParameterInfo& p, const json& given) {
    const std::string name(p.name), kind = given["schedule"].is_string()
                                               ? given["schedule"].get<std::string>()
                                               : given["schedule"].dump();
    static constexpr std::string_view kinds[] = {"inverse_sqrt", "inverse", "step"};
    if (std::ranges::find(kinds, kind) == std::end(kinds))
      throw ConfigError(not_allowed("tune.search." + name + ".schedule", kind, kinds));
    if (p.range.constant)
      throw ConfigError(
          fmt::format("tune.search.{}: allowed is one number, and no schedule", name));
    std::vector<std::string_view> parts{"t0"};
    if (kind == "step") parts = {"factor", "every"};
    for (const auto& [part, ignored] : given.items())
      if (part != "schedule" && part != "c" && std::ranges::find(parts, part) == parts.end()) {
        parts.emplace_back("c");
        throw ConfigError(not_allowed("tune.search." + name + ": key", part, parts));
      }
    json& schedule = found_.tree["algorithm"][name];
    schedule = {{"schedule", kind}};
    for (const std::string_view part : parts)
      read_constant(name, std::string(part), given, schedule);
    // The step size in round 1 is c divided by this.
    const auto divisor = [kind, t0 = name + ".t0"](const StepSizes& before) {
      const auto at = before.find(t0);
      const double first = 1 + (at == before.end() ? 0 : at->second);
      return kind == "inverse_sqrt" ? std::sqrt(first) : kind == "inverse" ? first : 1;
    };
    if (given.contains("c")) {
      read_constant(name, "c", given, schedule);
    } else {
      if (!(p.search_high > 0))
        throw ConfigError(fmt::format("tune.search.{}.c: has no range of its own; give one", name));
      SearchAxis c = declared(p);
      c.unit = [unit = p.unit, divisor](const StepSizes& before, double lambda_max) {
        return unit(before, lambda_max) * divisor(before);
      };
      c.max = INFINITY;
      add_constant(std::move(c), name, "c", schedule);
    }
    if (schedule_c_is_searched(name)) {
      found_.axes.back().counts_as = name;
      found_.axes.back().divisor = divisor;
    } else {
      found_.kept[name] = found_.kept[name + ".c"] / divisor(found_.kept);
    }
  }

  bool schedule_c_is_searched(const std::string& name) const {
    return !found_.axes.empty() && found_.axes.back().name == name + ".c";
  }

  void read_constant(const std::string& parameter, const std::string& part, const json& given,
                     json& schedule) {
    const std::string name = parameter + "." + part;
    const json value = given.value(part, json());
    const double lowest = part == "every" ? 1 : 0;
    if (value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= lowest) {
      schedule[part] = value;
      found_.kept[name] = value;
    } else if (const auto ends = ends_of(value); ends && ends->low >= lowest) {
      add_constant(asked_for(name, *ends, INFINITY, part == "every", part == "t0"), parameter, part,
                   schedule);
    } else {
      throw ConfigError(
          fmt::format("tune.search.{}{}: allowed is a number of at least {}, or a range "
                      "[low, high]",
                      name, value.is_null() ? " is missing" : " = " + value.dump(), lowest));
    }
  }

  void add_constant(SearchAxis axis, const std::string& parameter, const std::string& part,
                    json& schedule) {
    axis.name = axis.counts_as = parameter + "." + part;
    axis.key = "algorithm." + axis.name;
    schedule[part] = axis.low;
    found_.axes.push_back(std::move(axis));
  }

  // A key of [codec] or [graph], or a flag or choice of the algorithm.
  void read_key(const std::string& name, json value) {
    const std::vector<KeyInfo> keys = config_keys();
    if (const auto flag = std::ranges::find(info_.flags, name, &FlagInfo::name);
        flag != info_.flags.end())
      return add_list(name, "algorithm." + name, domain::boolean(), value);
    if (const auto choice = std::ranges::find(info_.choices, name, &ChoiceInfo::name);
        choice != info_.choices.end())
      return add_list(name, "algorithm." + name, domain::word(choice->words), value);
    const auto key = std::ranges::find(keys, name, &KeyInfo::name);
    if (key == keys.end()) refuse_name(name, keys);
    const bool searched = name.starts_with("codec.") || name.starts_with("graph.");
    using Kind = Domain::Kind;
    const Kind kind = key->domain.kind;
    if (!searched || name == "graph.agents" || kind == Kind::file || kind == Kind::integers ||
        kind == Kind::numbers || kind == Kind::table)
      throw ConfigError(fmt::format(
          "tune.search.{}: {}; allowed are parameters of {}, and keys of [codec] and [graph]", name,
          name == "graph.agents" ? "another number of agents is another problem"
                                 : "is no key to search",
          info_.name));
    const bool numbers = kind == Kind::integer || kind == Kind::number;
    const auto ends = value.is_object() ? ends_of(value) : std::nullopt;
    if (!numbers || !ends) return add_list(name, name, key->domain, value);
    for (const double end : {ends->low, ends->high}) {
      json checked = end;
      check_value("tune.search." + name, key->domain, checked);
    }
    SearchAxis axis = asked_for(name, *ends, INFINITY, kind == Kind::integer, false);
    axis.key = name;
    found_.axes.push_back(std::move(axis));
  }

  void add_list(const std::string& name, const std::string& key, const Domain& domain,
                const json& value) {
    if (!value.is_array() || value.empty())
      throw ConfigError(
          fmt::format("tune.search.{} = {}: allowed is a list of values{}", name, value.dump(),
                      domain.kind == Domain::Kind::number || domain.kind == Domain::Kind::integer
                          ? ", or {low = ..., high = ...}"
                          : ""));
    SearchAxis axis{.name = name, .key = key, .counts_as = name, .divisor = one};
    for (json item : value) {
      check_value("tune.search." + name, domain, item);
      if (item.is_string() && item.get<std::string>().find_first_of(",\"\n\r") != std::string::npos)
        throw ConfigError(fmt::format(
            "tune.search.{} = {}: a value with a comma, quote or line break cannot be searched",
            name, item.dump()));
      if (std::ranges::find(axis.listed, item) != axis.listed.end())
        throw ConfigError(
            fmt::format("tune.search.{} = {}: {} is there twice", name, value.dump(), item.dump()));
      axis.listed.push_back(std::move(item));
    }
    axis.ordered = std::ranges::all_of(axis.listed, [](auto& v) { return v.is_number(); });
    if (axis.ordered) std::ranges::sort(axis.listed);
    found_.axes.push_back(std::move(axis));
  }

  [[noreturn]] void refuse_name(const std::string& name, const std::vector<KeyInfo>& keys) {
    std::vector<std::string_view> names;
    for (const ParameterInfo& p : info_.parameters) names.push_back(p.name);
    for (const FlagInfo& flag : info_.flags) names.push_back(flag.name);
    for (const ChoiceInfo& choice : info_.choices) names.push_back(choice.name);
    std::string what = "tune.search: parameter of " + std::string(info_.name);
    if (name.find('.') != std::string::npos) {
      what = "tune.search: key";
      for (const KeyInfo& key : keys)
        if (key.name.starts_with("codec.") || key.name.starts_with("graph."))
          names.push_back(key.name);
    }
    throw ConfigError(not_allowed(what, name, names));
  }

  std::map<std::string, json> entries_;
  const AlgorithmInfo& info_;
  SearchAxes found_;
};

}  // namespace

SearchAxes read_axes(const Config& config) {
  return Reader(config)();
}

}  // namespace ticopd
