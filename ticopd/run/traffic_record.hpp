#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// Records the bytes that the transport carried next to the bytes that the codecs made, for run.json
// and `ticopd audit`. A part covers the rounds between two starts of the processes: a resumed run
// has several parts, each with its own number of ranks. Checkpoints hold both counts of the same
// round, so the counts agree no matter how often the run is killed.
class TrafficRecord {
 public:
  explicit TrafficRecord(std::string device)
      : device_(std::move(device)) {}  // the device of this part

  // Begins a part: `net` counts for it from here on. `before` holds the parts of the checkpoint.
  template <class T>
  void begin(AnyNetwork<T>& net, nlohmann::json before);

  // All parts, including the current one up to this round. Collective: every rank gets the same.
  template <class T>
  nlohmann::json parts(AnyNetwork<T>& net) const;

  // {"kind", "library", "ranks", "parts"}. Collective: every rank gets the same.
  template <class T>
  nlohmann::json report(AnyNetwork<T>& net) const;

  // A single part made from a ledger, for a run of which only the ledger is known.
  static nlohmann::json part_of(const nlohmann::json& ledger, std::uint32_t rounds);

 private:
  std::string device_;
  nlohmann::json before_ = nlohmann::json::array();
  std::uint32_t from_round_ = 0;
  std::vector<Ledger::Agent> ledger_;  // of the hosted agents, when the part began
};

extern template void TrafficRecord::begin(AnyNetwork<float>&, nlohmann::json);
extern template void TrafficRecord::begin(AnyNetwork<double>&, nlohmann::json);
extern template nlohmann::json TrafficRecord::parts(AnyNetwork<float>&) const;
extern template nlohmann::json TrafficRecord::parts(AnyNetwork<double>&) const;
extern template nlohmann::json TrafficRecord::report(AnyNetwork<float>&) const;
extern template nlohmann::json TrafficRecord::report(AnyNetwork<double>&) const;

// The JSON values of all ranks, in rank order. Collective: every rank gets all of them.
std::vector<nlohmann::json> all_gather_json(Transport& transport, const nlohmann::json& mine);

}  // namespace ticopd
