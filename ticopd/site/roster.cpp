#include "ticopd/site/roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/site/signed_roster.hpp"
#include "ticopd/system/text.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// A config need not have one.
json name_in(const Config& config) {
  return config.tree().value("name", json());
}

[[noreturn]] void refuse(const std::string& what) {
  throw ConfigError(what);
}

void refuse_other_keys(const json& table, const std::string& where,
                       std::initializer_list<std::string_view> allowed) {
  for (const auto& [key, value] : table.items())
    if (std::ranges::find(allowed, key) == allowed.end())
      refuse(not_allowed(where, printable(key), std::span(allowed.begin(), allowed.size())));
}

std::uint32_t count_of(const json& roster, const char* key, const std::string& name,
                       std::uint32_t least = 1) {
  const json value = roster.value(key, json());
  if (!value.is_number_integer() || value < least || value > 0xffffffffu)
    refuse(fmt::format("{}: {} = {}: allowed is a whole number from {} to 4294967295", name, key,
                       value.dump(), least));
  return value.get<std::uint32_t>();
}

std::string word_of(const json& site, const char* key, const std::string& where, bool required) {
  if (!site.contains(key) && !required) return {};
  const json value = site.value(key, json());
  if (!value.is_string()) refuse(fmt::format("{}: {} is missing, or is no text", where, key));
  return value.get<std::string>();
}

RosterSite parse_site(const json& site, const std::string& name, std::size_t number) {
  std::string where = fmt::format("{}: site {}", name, number + 1);
  if (!site.is_object()) refuse(where + ": is no table");
  refuse_other_keys(site, where, {"name", "agents", "address", "key"});
  RosterSite s;
  s.name = word_of(site, "name", where, true);
  where = fmt::format("{}: site \"{}\"", name, printable(s.name));
  s.address = word_of(site, "address", where, false);
  s.key = word_of(site, "key", where, true);
  const json agents = site.value("agents", json());
  const auto fits = [](const json& a) {
    return a.is_number_integer() && a >= 0 && a <= 1'000'000'000;
  };
  if (!agents.is_array() || agents.empty() || !std::ranges::all_of(agents, fits))
    refuse(fmt::format("{}: agents = {}: expected the numbers of its agents, as [0, 1]", where,
                       agents.dump()));
  s.agents = agents.get<std::vector<int>>();
  return s;
}

// What the sites compute, and which of them computes what.
json run_of(const Roster& roster) {
  json all{name_in(roster.config), roster.config.identity()};
  for (const RosterSite& s : roster.sites) all.push_back({s.name, s.agents});
  if (roster.schedules_after > 0) all.push_back(roster.schedules_after);
  return all;
}

}  // namespace

int Roster::position(std::string_view name) const {
  const auto at = std::ranges::find(sites, name, &RosterSite::name);
  return at == sites.end() ? -1 : static_cast<int>(at - sites.begin());
}

int Roster::find(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const RosterSite& s : sites) {
    if (s.name == name) return static_cast<int>(names.size());
    names.push_back(s.name);
  }
  throw ConfigError(not_allowed("--as", printable(name), names));
}

std::vector<int> Roster::blocks() const {
  std::vector<int> all;
  for (const RosterSite& s : sites) all.push_back(static_cast<int>(s.agents.size()));
  return all;
}

int Roster::agents() const {
  int all = 0;
  for (const int count : blocks()) all += count;
  return all;
}

Roster parse_roster(std::string_view toml, const std::string& name) {
  const json table = toml_table(toml, name);
  if (!table.is_object() || !table.contains("config") || !table.contains("site"))
    throw FormatError(fmt::format("{}: is not a roster ([[site]] or [config] is missing)", name));
  refuse_other_keys(table, name,
                    {"version", "epoch", "schedules_after", "site", "operator", "config"});
  if (!table["site"].is_array() || table["site"].size() < 2)
    refuse(fmt::format("{}: a network has two sites or more", name));
  Roster roster{.config = Config::resolved(table["config"], ".")};
  roster.version = count_of(table, "version", name);
  roster.epoch = count_of(table, "epoch", name);
  if (table.contains("schedules_after"))
    roster.schedules_after = count_of(table, "schedules_after", name, 0);
  roster.operators = successors_of(table, name);
  for (const json& site : table["site"])
    roster.sites.push_back(parse_site(site, name, roster.sites.size()));
  return roster;
}

std::string roster_text(const Roster& roster) {
  json table{{"version", roster.version}, {"epoch", roster.epoch}, {"site", json::array()}};
  for (const RosterSite& s : roster.sites) {
    table["site"].push_back({{"name", s.name}, {"agents", s.agents}, {"key", s.key}});
    if (!s.address.empty()) table["site"].back()["address"] = s.address;
  }
  if (roster.schedules_after > 0) table["schedules_after"] = roster.schedules_after;
  for (const Successor& s : roster.operators)
    table["operator"].push_back({{"key", s.key}, {"by", s.by}, {"signature", s.signature}});
  table["config"] = roster.config.tree();
  return json_to_toml(table);
}

Graph graph_of(const Roster& roster) {
  return make_graph(graph_options(roster.config), roster.config.get<std::uint64_t>("seed"));
}

std::vector<std::vector<bool>> neighbouring_sites(const Roster& roster, const Graph& graph) {
  const std::size_t count = roster.sites.size();
  const std::vector<int> blocks = roster.blocks();
  const Placement placement(graph, static_cast<int>(count), 0, {}, blocks);
  std::vector<std::vector<bool>> all(count, std::vector<bool>(count));
  for (int i = 0; i < graph.agents(); ++i)
    for (const int j : graph.neighbours(i)) {
      const auto a = static_cast<std::size_t>(placement.owner(i));
      const auto b = static_cast<std::size_t>(placement.owner(j));
      if (a != b) all[a][b] = all[b][a] = true;
    }
  return all;
}

std::uint64_t network_number(const Roster& roster, const std::string& operator_key) {
  json all{operator_key, roster.epoch};
  for (json& part : run_of(roster)) all.push_back(std::move(part));
  const std::string text = all.dump();
  return hash_row(std::as_bytes(std::span(text)));
}

std::uint64_t owner_number(const Roster& roster, const std::string& operator_key) {
  const std::string text = json{operator_key, name_in(roster.config)}.dump();
  return hash_row(std::as_bytes(std::span(text)));
}

bool same_run(const Roster& a, const Roster& b) {
  return run_of(a) == run_of(b);
}

void check_successor(const Roster& before, const Roster& now) {
  if (now.version <= before.version)
    refuse(fmt::format("version {}: the roster before has version {}; a changed one needs a higher",
                       now.version, before.version));
  if (now.epoch < before.epoch)
    refuse(fmt::format("epoch {}: the roster before has epoch {}; it never goes back", now.epoch,
                       before.epoch));
  if (now.operators.size() < before.operators.size() ||
      !std::equal(before.operators.begin(), before.operators.end(), now.operators.begin()))
    refuse(
        fmt::format("operator: version {} names operators who are not all in version {}: one who "
                    "has handed over signs no more",
                    before.version, now.version));
  if (name_in(now.config) != name_in(before.config))
    refuse(
        fmt::format("config.name = {}: the roster before has {}; another name is another network",
                    name_in(now.config).dump(), name_in(before.config).dump()));
  if (!same_run(before, now) && now.epoch == before.epoch)
    refuse(
        fmt::format("epoch {}: agents, graph or config are not those of version {}: they need a "
                    "higher epoch",
                    now.epoch, before.version));
}

Address parse_address(const std::string& text, const std::string& key) {
  const std::size_t colon = text.rfind(':');
  const std::string host = text.substr(0, colon);
  const int port = colon == std::string::npos
                       ? 0
                       : parse_number<int>(std::string_view(text).substr(colon + 1)).value_or(0);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  const auto odd = [](unsigned char c) { return c <= ' ' || c == '/' || c == ';' || c == 127; };
  if (port < 1 || port > 65535 || host.empty() || std::ranges::any_of(host, odd) ||
      (!bracketed && host.find(':') != std::string::npos))
    refuse(fmt::format("{} = \"{}\": allowed is HOST:PORT with a port from 1 to 65535", key,
                       printable(text)));
  return {host, port};
}

}  // namespace ticopd
