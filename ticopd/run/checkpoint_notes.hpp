#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// The ledgers of all agents, in agent order. Collective: every rank gets all of them.
template <class T>
nlohmann::json gather_ledger(AnyNetwork<T>& net);

// Those of the hosted agents.
template <class T>
nlohmann::json hosted_ledger(AnyNetwork<T>& net);

extern template nlohmann::json hosted_ledger(AnyNetwork<float>&);
extern template nlohmann::json hosted_ledger(AnyNetwork<double>&);
extern template nlohmann::json gather_ledger(AnyNetwork<float>&);
extern template nlohmann::json gather_ledger(AnyNetwork<double>&);

// Parses one entry of gather_ledger(). FormatError if it is of an agent with other than `links`
// neighbours.
Ledger::Agent ledger_agent(const nlohmann::json& j, std::size_t links);

// DiskError if the ranks do not see the same checkpoint: ranks that resume from different rounds
// would wait for each other for ever. Collective: every rank calls it.
void refuse_other_checkpoint(const std::filesystem::path& checkpoint, Transport& transport);

}  // namespace ticopd
