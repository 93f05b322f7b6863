#include "ticopd/site/connections.hpp"

#include <fmt/format.h>

#include <utility>

namespace ticopd {
namespace {

// Where to listen: the port of the roster's address, on all interfaces unless it is of this machine
// alone.
std::string listen_at(const RosterSite& site, const std::string& given) {
  if (!given.empty()) {
    parse_address(given, "--listen");
    return given;
  }
  if (site.address.empty()) return {};
  const Address a = parse_address(site.address, "address");
  if (a.host == "localhost") return fmt::format("127.0.0.1:{}", a.port);
  if (a.host.starts_with("127.") || a.host == "[::1]") return site.address;
  return fmt::format("{}:{}", a.host.starts_with('[') ? "[::]" : "*", a.port);
}

}  // namespace

WireSettings wire_settings(const Roster& roster, int own, const KeyPair& keys,
                           const std::string& listen) {
  WireSettings settings{.own = own,
                        .sites = {},
                        .secret = from_z85(keys.secret),
                        .listen = listen_at(roster.sites[static_cast<std::size_t>(own)], listen)};
  const auto neighbours = neighbouring_sites(roster, graph_of(roster));
  for (std::size_t i = 0; i < roster.sites.size(); ++i)
    settings.sites.push_back({.name = roster.sites[i].name,
                              .address = roster.sites[i].address,
                              .key = from_z85(roster.sites[i].key),
                              .neighbour = neighbours[static_cast<std::size_t>(own)][i]});
  return settings;
}

// The old sockets go first: the new ones may listen at the same port.
void Connections::open(const WireSettings& settings) {
  none_.sent.assign(settings.sites.size(), 0);
  none_.received = none_.sent;
  wire_.reset();
  wire_ = open_wire(settings);
}

}  // namespace ticopd
