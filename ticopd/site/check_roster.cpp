#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/own_data.hpp"
#include "ticopd/site/roster.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

[[noreturn]] void refuse_network(const std::string& what) {
  throw ConfigError(what);
}

// Refuses a config that needs one process with all agents and data, or makes one site read a file
// that another one names.
void check_config(const Config& config) {
  if (has_external_objective(config.tree()))
    refuse_network("problem.objective = \"external\": sites cannot run the objective of a program");
  if (const auto kind = config.get<std::string>("network.transport"); kind != "none")
    refuse_network(
        fmt::format("network.transport = \"{}\": allowed is \"none\": the roster says who runs "
                    "what",
                    kind));
  if (config.get<bool>("log.lyapunov"))
    refuse_network("log.lyapunov = true: it couples all agents, and a site sees only its own");
  if (config.get<std::string>("graph.kind") == "file")
    refuse_network(
        "graph.kind = \"file\": a roster names no files; write the edges into graph.edges, with "
        "graph.kind = \"edges\"");
  check(config);
  check_shard_facts(config);
}

void check_agents(const Roster& roster, int agents) {
  std::map<int, const RosterSite*> host;
  int next = 0;
  for (const RosterSite& s : roster.sites)
    for (const int agent : s.agents) {
      if (agent >= agents)
        refuse_network(fmt::format("site {}: agent {}: the graph has the agents 0 to {}", s.name,
                                   agent, agents - 1));
      if (const auto [at, is_new] = host.emplace(agent, &s); !is_new)
        refuse_network(fmt::format("agent {} stands twice: at site {} and at site {}", agent,
                                   at->second->name, s.name));
    }
  for (int agent = 0; agent < agents; ++agent)
    if (!host.contains(agent)) refuse_network(fmt::format("agent {} stands at no site", agent));
  for (const RosterSite& s : roster.sites)
    for (const int agent : s.agents)
      if (agent != next++)
        refuse_network(
            fmt::format("site {}: agent {}, where agent {} is next: sites host blocks of agents, "
                        "in the order of the roster",
                        s.name, agent, next - 1));
}

}  // namespace

void check_roster(const Roster& roster, const std::string& name) try {
  check_roster(roster);
} catch (const ConfigError& e) {
  refuse_network(fmt::format("{}: {}", name, e.what()));
}

void check_roster(const Roster& roster) {
  std::set<std::string> names, keys, addresses;
  for (const RosterSite& s : roster.sites) {
    if (const std::string why = why_no_name(s.name); !why.empty()) refuse_network("site " + why);
    if (!names.insert(s.name).second)
      refuse_network(fmt::format("two sites have the name {}", s.name));
    if (!is_key(s.key))
      refuse_network(fmt::format("site {}: key = \"{}\": is no public key; copy it from {}.pub",
                                 s.name, printable(s.key), s.name));
    if (!keys.insert(s.key).second)
      refuse_network(fmt::format("site {}: another site has the same key", s.name));
    if (s.address.empty()) continue;
    parse_address(s.address, fmt::format("site {}: address", s.name));
    if (!addresses.insert(s.address).second)
      refuse_network(fmt::format("site {}: another site has the address {}", s.name, s.address));
  }
  check_config(roster.config);
  if (roster.epoch == 1 && roster.schedules_after > 0)
    refuse_network("schedules_after: the first epoch begins them; allowed is 0");
  if (roster.epoch > 1 && roster.config.tree()["algorithm"]["name"] == "choco_gossip")
    refuse_network(
        "algorithm.name = \"choco_gossip\": has no second epoch: its models are its data, which "
        "every round mixes; start a new network");
  const Graph graph = graph_of(roster);
  check_agents(roster, graph.agents());
  const auto neighbours = neighbouring_sites(roster, graph);
  for (std::size_t a = 0; a < roster.sites.size(); ++a)
    for (std::size_t b = a + 1; b < roster.sites.size(); ++b)
      if (neighbours[a][b] && roster.sites[a].address.empty() && roster.sites[b].address.empty())
        refuse_network(
            fmt::format("sites {} and {} are neighbours and neither has an address: one of them "
                        "must be reachable",
                        roster.sites[a].name, roster.sites[b].name));
}

}  // namespace ticopd
