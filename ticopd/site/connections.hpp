#pragma once

#include <memory>
#include <string>

#include "ticopd/site/keys.hpp"
#include "ticopd/site/roster.hpp"
#include "ticopd/site/site_wire.hpp"

namespace ticopd {

// What the wire of a site must know of a roster. `listen`: in place of the roster's address.
WireSettings wire_settings(const Roster& roster, int own, const KeyPair& keys,
                           const std::string& listen);

// A wire that is made anew when the roster changes: keys that are gone lose their connections.
class Connections final : public SiteWire {
 public:
  void open(const WireSettings& settings);

  void send(int site, Bytes message) override { wire_->send(site, std::move(message)); }
  std::optional<Arrived> receive(Time until) override { return wire_->receive(until); }
  void odd(int site) override { wire_->odd(site); }
  const WireCounts& counts() const override { return wire_ ? wire_->counts() : none_; }

 private:
  WireCounts none_;  // while the wire could not be opened
  std::unique_ptr<SiteWire> wire_;
};

}  // namespace ticopd
