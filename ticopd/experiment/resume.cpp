#include "ticopd/experiment/resume.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/saved_state.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void refuse_to_resume(const fs::path& folder, const std::string& difference) {
  throw ConfigError(fmt::format("--resume: {} holds another run: {}", folder.string(), difference));
}

FormatError damaged(const fs::path& file, const std::string& what) {
  return FormatError(fmt::format("{}: its notes are damaged{}", file.string(), what));
}

std::uint32_t round_in(const CheckpointNotes& notes, const char* name, const fs::path& file) {
  const std::string& text = notes.at(name);
  const auto round = parse_number<std::uint32_t>(text);
  if (!round) throw damaged(file, fmt::format(": {} {}", name, text));
  return *round;
}

// The last round up to the checkpoint that must be in metrics.csv; empty if there is none.
std::optional<std::uint32_t> last_logged(const Config& now, const CheckpointNotes& notes,
                                         std::uint32_t round, std::uint32_t before,
                                         const fs::path& file) {
  const LogRounds log = log_rounds(now);
  const auto iterations = now.get<std::uint32_t>("iterations");
  SavedState saved;
  saved.round = round;
  if (notes.contains("inputs")) {  // checkpoints with fingerprints say it
    if (!notes.contains("logged")) return std::nullopt;
    saved.logged = round_in(notes, "logged", file);
    if (*saved.logged > round)
      throw damaged(file,
                    fmt::format(": round {} logged before round {}", notes.at("logged"), round));
    saved.read_before_last_row(notes, file);
  } else if (round == before) {
    saved.logged = round;  // of 0.1, at its end
  } else {
    while (!log(round, iterations)) --round;
    return round;
  }
  saved.make_longer(iterations, log, file);
  return saved.logged;
}

}  // namespace

json identity_in(const json& tree, const fs::path& file, const Config& now) {
  try {
    return Config::resolved(tree, now.folder()).identity();
  } catch (const ConfigError& e) {
    throw FormatError(fmt::format("{}: its config is damaged: {}", file.string(), e.what()));
  }
}

std::string why_not_resumed(const Config& now, json identity) {
  const json ours = now.identity();
  const json then = std::exchange(identity["iterations"], ours.at("iterations"));
  if (std::string other = first_difference(ours, identity); !other.empty()) return other;
  if (then == ours["iterations"]) return {};
  if (then > ours["iterations"])
    return fmt::format("iterations is {} now and was {}; a run can be made longer, not shorter",
                       ours["iterations"].dump(), then.dump());
  for (const std::string_view name : parameters_of_length(configured_options(now)))
    return fmt::format(
        "iterations is {} now and was {}, and algorithm.{} follows from it; give a new folder "
        "(a run that is given its algorithm.{} can be made longer)",
        ours["iterations"].dump(), then.dump(), name, name);
  return {};
}

ResumePoint resume_point(const Config& now, const CheckpointNotes& notes, const fs::path& file) {
  const json theirs = notes.contains("config") ? parse_json(notes.at("config")) : json();
  if (!theirs.is_object() || !notes.contains("round")) throw damaged(file, "");
  const json identity = identity_in(theirs, file, now);
  if (const std::string why = why_not_resumed(now, identity); !why.empty())
    refuse_to_resume(file.parent_path(), why);
  const std::uint32_t round = round_in(notes, "round", file);
  const auto before = identity["iterations"].get<std::uint32_t>();
  if (round > before) throw damaged(file, fmt::format(": round {}", round));
  return {round, last_logged(now, notes, round, before, file)};
}

void check_resume(const Config& now, const fs::path& folder) {
  const RunFolder files(folder);
  bool longer = false;
  if (const auto summary = files.read_summary()) {
    const json theirs = identity_in((*summary)["config"], folder / "run.json", now);
    if (const std::string why = why_not_resumed(now, theirs); !why.empty()) refuse_to_resume(folder, why);
    if ((*summary)["status"] == "diverged") return;  // stays as it is
    longer = (*summary)["status"] == "finished" && theirs["iterations"] < now.tree()["iterations"];
  }
  if (fs::exists(files.checkpoint()))
    resume_point(now, read_checkpoint_notes(files.checkpoint()), files.checkpoint());
  else if (longer)
    throw ConfigError(fmt::format(
        "--resume: {} is finished and has no checkpoint to go on from; give a new folder",
        folder.string()));
}

}  // namespace ticopd
