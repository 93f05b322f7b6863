#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// What the transport carried, beside what the codecs made, for run.json and `ticopd audit`. A part
// is one life of the run's processes: a resumed run has several, each on its own number of ranks.
// Both counts go into checkpoints at the same round, so that they agree however often it is killed.
class TrafficRecord {
 public:
  explicit TrafficRecord(std::string device)
      : device_(std::move(device)) {}  // where this part runs

  // A part begins: from here on `net` counts for it. `before` are the parts that a checkpoint had.
  template <class T>
  void begin(AnyNetwork<T>& net, nlohmann::json before);

  // All parts, the present one as far as it is. Every rank calls it and gets the same.
  template <class T>
  nlohmann::json parts(AnyNetwork<T>& net) const;

  // {"kind", "library", "ranks", "parts"}: every rank calls it and gets the same.
  template <class T>
  nlohmann::json report(AnyNetwork<T>& net) const;

  // One part that says what a ledger says: of a run that nothing is known of but its ledger.
  static nlohmann::json part_of(const nlohmann::json& ledger, std::uint32_t rounds);

 private:
  std::string device_;
  nlohmann::json before_ = nlohmann::json::array();
  std::uint32_t from_round_ = 0;
  std::vector<Ledger::Agent> ledger_;  // at the beginning, of the hosted agents
};

extern template void TrafficRecord::begin(AnyNetwork<float>&, nlohmann::json);
extern template void TrafficRecord::begin(AnyNetwork<double>&, nlohmann::json);
extern template nlohmann::json TrafficRecord::parts(AnyNetwork<float>&) const;
extern template nlohmann::json TrafficRecord::parts(AnyNetwork<double>&) const;
extern template nlohmann::json TrafficRecord::report(AnyNetwork<float>&) const;
extern template nlohmann::json TrafficRecord::report(AnyNetwork<double>&) const;

// JSON values of all ranks, in rank order, on every rank.
std::vector<nlohmann::json> all_gather_json(Transport& transport, const nlohmann::json& mine);

}  // namespace ticopd
