#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
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
  double first_loss = 0;
  double seconds = 0;

  CheckpointNotes to_notes() const;
  // FormatError naming the file if a note is missing or is no number.
  static SavedState read(const std::filesystem::path& file);
};

}  // namespace ticopd
