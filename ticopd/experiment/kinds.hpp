#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "ticopd/experiment/keys.hpp"

// Some keys choose a kind (codec.kind, graph.kind, problem.data, ...), and others are options of
// one kind. These functions tell which options the chosen kinds use.
namespace ticopd {

// True if a program must bring the objective of this config.
bool has_external_objective(const nlohmann::json& tree);

// True if problem.data has {agent} in its place.
bool names_agent_sources(const nlohmann::json& tree);

// True if the kinds that `tree` chooses use this key. The default counts where the tree chooses
// none.
bool uses(const nlohmann::json& tree, const KeyInfo& key, std::span<const KeyInfo> keys);

// True if the default of this key stands in a complete config: a chosen kind uses the key and does
// not find the value itself.
bool takes_default(const nlohmann::json& tree, const KeyInfo& key, std::span<const KeyInfo> keys);

// ConfigError for a key of `tree` that the chosen kinds do not use. All keys of the tree were
// written by the user.
void refuse_unused(const nlohmann::json& tree, std::span<const KeyInfo> keys);

// Removes the keys that the chosen kinds do not use, as a config of version 0.1 lists them.
void remove_unused(nlohmann::json& tree);

// After `above` was laid over `before`, which made `tree`: if `above` chose another kind, the
// options of the kind before go, but for those that `above` names.
void drop_options_of_other_kinds(nlohmann::json& tree, const nlohmann::json& before,
                                 const nlohmann::json& above);

// Lays an entry of [[run]] over the shared tables, key by key. An [algorithm], [codec] or [graph]
// of another kind replaces the whole table.
void lay_run_over(nlohmann::json& below, const nlohmann::json& above);

}  // namespace ticopd
