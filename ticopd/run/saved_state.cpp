#include "ticopd/run/saved_state.hpp"

#include <stdexcept>

#include "ticopd/error.hpp"

namespace ticopd {

using nlohmann::json;

CheckpointNotes SavedState::to_notes() const {
  return {{"ticopd", "1"},
          {"round", std::to_string(round)},
          {"config", config},
          {"digest", digest},
          {"ledger", ledger.dump()},
          {"parts", parts.dump()},
          {"bits_before", bits_before.dump()},
          {"first_loss", json(first_loss).dump()},
          {"seconds", json(seconds).dump()}};
}

SavedState SavedState::read(const std::filesystem::path& file) {
  const auto damaged = [&] { return FormatError(file.string() + ": its notes are damaged"); };
  const CheckpointNotes notes = read_checkpoint_notes(file);
  try {
    SavedState saved;
    saved.round = static_cast<std::uint32_t>(std::stoul(notes.at("round")));
    saved.digest = notes.at("digest");
    saved.ledger = json::parse(notes.at("ledger"));
    saved.first_loss = json::parse(notes.at("first_loss")).get<double>();
    saved.seconds = json::parse(notes.at("seconds")).get<double>();
    if (notes.contains("config")) saved.config = notes.at("config");
    if (notes.contains("parts")) saved.parts = json::parse(notes.at("parts"));
    if (notes.contains("bits_before")) saved.bits_before = json::parse(notes.at("bits_before"));
    return saved;
  } catch (const std::logic_error&) {  // a note is missing or not a number
    throw damaged();
  } catch (const json::exception&) {
    throw damaged();
  }
}

}  // namespace ticopd
