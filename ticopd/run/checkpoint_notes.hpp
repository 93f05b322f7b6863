#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// Every agent's ledger, in agent order, on every rank.
template <class T>
nlohmann::json gather_ledger(AnyNetwork<T>& net);

extern template nlohmann::json gather_ledger(AnyNetwork<float>&);
extern template nlohmann::json gather_ledger(AnyNetwork<double>&);

// One entry of it.
Ledger::Agent ledger_agent(const nlohmann::json& j);

// Ranks that went on from different rounds would wait for each other in vain: DiskError where
// they do not find the same checkpoint. Every rank calls it.
void refuse_other_checkpoint(const std::filesystem::path& checkpoint, Transport& transport);

}  // namespace ticopd
