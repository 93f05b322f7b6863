#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ticopd/run/checkpoint.hpp"

namespace ticopd {

// What a checkpoint holds beside the rows: its notes, with their types.
struct SavedState {
  std::uint32_t round = 0;
  std::string config;          // Saving::config
  std::string digest;          // Digest::state()
  nlohmann::json ledger;       // of all agents
  nlohmann::json parts;        // TrafficRecord::parts; null in files that have none
  nlohmann::json bits_before;  // sent up to the round before the last; null in files without it
  nlohmann::json inputs;       // inputs_of(); null in files without it, as those of 0.1
  nlohmann::json machine;      // machine_json(), of whoever saved it; null likewise
  std::optional<std::uint32_t> logged;  // the last round that was logged; empty: none, or not known
  std::optional<double> first_loss;     // empty: not measured
  double seconds = 0;

  CheckpointNotes to_notes() const;
  // FormatError naming the file if a note is missing, is no number or cannot be of a run with this
  // many agents.
  static SavedState read(const std::filesystem::path& file, int agents);
};

}  // namespace ticopd
