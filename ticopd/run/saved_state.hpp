#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ticopd/run/checkpoint.hpp"
#include "ticopd/run/log_rounds.hpp"

namespace ticopd {

// The digest and the last logged round from before the row of the last round, if only a run of this
// length logs that row. A longer run goes on from here.
struct BeforeLastRow {
  std::string digest;
  std::optional<std::uint32_t> logged;
};

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
  std::optional<BeforeLastRow> before_last_row;

  // Forgets the row of the last round, unless a run of so many rounds logs it as well. ConfigError
  // if the checkpoint was made by a version that kept no state from before that row.
  void make_longer(std::uint32_t iterations, const LogRounds& rounds,
                   const std::filesystem::path& file);

  // FormatError if the note is there and damaged.
  void read_before_last_row(const CheckpointNotes& notes, const std::filesystem::path& file);

  CheckpointNotes to_notes() const;
  // FormatError naming the file if a note is missing, is no number or cannot be of a run with this
  // many agents.
  static SavedState read(const std::filesystem::path& file, int agents);
};

}  // namespace ticopd
