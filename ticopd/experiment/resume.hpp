#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/run/checkpoint.hpp"

// What --resume asks of a folder before any data are read: that it holds the same run, or a shorter
// one that may be made longer.
namespace ticopd {

// The identity of the config `tree`, which stands in `file`. FormatError if it is damaged.
nlohmann::json identity_in(const nlohmann::json& tree, const std::filesystem::path& file,
                           const Config& now);

// Why `now` cannot go on with a run of this identity; empty if it can. It may have more rounds, if
// no parameter follows from their number.
std::string why_not_resumed(const Config& now, nlohmann::json identity);

// The place where a run goes on: the round of its checkpoint, with the rows of metrics.csv up to
// `logged`.
struct ResumePoint {
  std::uint32_t round = 0;
  std::optional<std::uint32_t> logged;
};
// From the notes of the checkpoint `file`. ConfigError if it is of another run, FormatError if it
// is damaged.
ResumePoint resume_point(const Config& now, const CheckpointNotes& notes,
                         const std::filesystem::path& file);

// ConfigError, before any run begins, if what the folder holds cannot go on. Changes nothing.
void check_resume(const Config& now, const std::filesystem::path& folder);

}  // namespace ticopd
