#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/site/operators.hpp"

namespace ticopd {

struct RosterSite {
  std::string name;
  std::vector<int> agents;  // a block
  std::string address;      // HOST:PORT where others reach it; empty: it only connects
  std::string key;          // the public one
};

// The sites of a network and what they run: a TOML file that the operator signs. Sites host blocks
// of agents in the roster's order.
struct Roster {
  std::uint32_t version = 1, epoch = 1;
  std::uint32_t schedules_after = 0;  // rounds: where step sizes go on that depend on the round
  std::vector<RosterSite> sites = {};
  std::vector<Successor> operators = {};  // after the first one
  Config config;

  int position(std::string_view name) const;  // -1: it is not there
  int find(std::string_view name) const;      // ConfigError, with the nearest name
  std::vector<int> blocks() const;            // agents of each site
  int agents() const;
};

// FormatError for text that is no roster; ConfigError for values that no roster can have. `name` is
// for messages.
Roster parse_roster(std::string_view toml, const std::string& name);
std::string roster_text(const Roster& roster);

// All that can be refused without data: two sites of one name, an agent twice or never, keys,
// addresses, neighbours of which none has an address, what sites cannot run, and the config itself.
// ConfigError.
void check_roster(const Roster& roster);
void check_roster(const Roster& roster, const std::string& name);  // of the file, for messages

// Sites that have a link, so that they talk to each other.
std::vector<std::vector<bool>> neighbouring_sites(const Roster& roster, const Graph& graph);
Graph graph_of(const Roster& roster);

// A number that all sites of this run share, and no others. A change of keys, addresses and
// machines leaves it as it is.
std::uint64_t network_number(const Roster& roster, const std::string& operator_key);

// A number of the operator and the run's name.
std::uint64_t owner_number(const Roster& roster, const std::string& operator_key);

// True if they have the same agents at the same sites, the same graph and config: one epoch.
bool same_run(const Roster& a, const Roster& b);

// ConfigError unless `now` may follow `before`: it has a higher version and no lower epoch, a
// change of agents, graph or config, and nothing else, raises the epoch, and no operator takes back
// that another one signs.
void check_successor(const Roster& before, const Roster& now);

// "HOST:PORT"; the host of an IPv6 address stands in brackets. ConfigError naming `key`.
struct Address {
  std::string host;
  int port = 0;
};
Address parse_address(const std::string& text, const std::string& key);

}  // namespace ticopd
