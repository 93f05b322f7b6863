#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ticopd/site/world.hpp"

namespace ticopd {

// A site as its wire sees it.
struct WirePeer {
  std::string name;
  std::string address;     // HOST:PORT; empty: it only connects
  std::string key;         // 32 bytes
  bool neighbour = false;  // of the own site: others have no connection
};

struct WireSettings {
  int own = 0;
  std::vector<WirePeer> sites;
  std::string secret;       // 32 bytes
  std::string listen = {};  // where to listen, HOST:PORT; empty: nobody connects to this site
};

// What went over the wire since it was made, by site.
struct WireCounts {
  std::vector<std::uint64_t> sent, received;  // bytes
  std::uint64_t refused = 0;  // connections that were not let in: strangers, garbage, idle ones
  std::uint64_t dropped = 0;  // messages of an odd form or sender: none of them was decoded
  std::uint64_t cut_off = 0;  // connections of neighbours that were ended for such messages
};

// Messages between sites over encrypted TCP connections. Of each pair of neighbours the site with
// the smaller number connects if the other has an address, else the other way round.
class SiteWire : public Wire {
 public:
  virtual const WireCounts& counts() const = 0;
};

// Loads the part of the program that knows ZeroMQ. UnavailableError if it is missing, or if the
// address to listen at is taken.
std::unique_ptr<SiteWire> open_wire(const WireSettings& settings);

}  // namespace ticopd
