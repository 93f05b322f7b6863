#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ticopd/network/placement.hpp"
#include "ticopd/run/setup.hpp"

// Fingerprints of everything that a run reads, so that a run which goes on later, or is repeated,
// can tell whether it still is the same experiment.
namespace ticopd {

// {"graph", "start", "test", "agents": [{"samples", "labels", "data"}, ...]}, of all agents.
// "data" and "test" are left out if the objective has none. Collective: every rank gets the same.
template <class T>
nlohmann::json inputs_of(const Setup<T>& setup, Transport& transport);

// The same of the hosted agents alone.
template <class T>
nlohmann::json hosted_inputs(const Setup<T>& setup, const Placement& placement);

extern template nlohmann::json hosted_inputs(const Setup<float>&, const Placement&);
extern template nlohmann::json hosted_inputs(const Setup<double>&, const Placement&);
extern template nlohmann::json inputs_of(const Setup<float>&, Transport&);
extern template nlohmann::json inputs_of(const Setup<double>&, Transport&);

// Says in words what differs between two records of inputs; empty if nothing does, or if one of
// them does not know.
std::string difference_of_inputs(const nlohmann::json& now, const nlohmann::json& then);

}  // namespace ticopd
