#include "ticopd/run/saved_state.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// A note as JSON. out_of_range if it is missing, invalid_argument if it does not parse.
json note(const CheckpointNotes& notes, const char* name) {
  json value = parse_json(notes.at(name));
  if (value.is_discarded()) throw std::invalid_argument(name);
  return value;
}

json note_if_there(const CheckpointNotes& notes, const char* name) {
  return notes.contains(name) ? note(notes, name) : json();
}

// A count may be written as 12 only: -1 or 1e300 would become another number silently.
void require_count(const json& value) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
    throw std::invalid_argument("count");
}

double finite(const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    throw std::invalid_argument("number");
  return value.get<double>();
}

void check_ledger(const json& ledger, std::size_t agents) {
  if (!ledger.is_array() || ledger.size() != agents) throw std::invalid_argument("ledger");
  for (const json& a : ledger) {
    for (const char* key : {"messages", "payload_bytes", "saturated"}) require_count(a.at(key));
    if (finite(a.at("paper_bits")) < 0) throw std::invalid_argument("paper_bits");
    for (const char* key : {"link_messages", "link_bytes"}) {
      if (!a.at(key).is_array()) throw std::invalid_argument(key);
      for (const json& count : a.at(key)) require_count(count);
    }
  }
}

// Parts are written again to run.json, and read by `ticopd audit`, which checks the rest.
void check_parts(const json& parts) {
  if (parts.is_null()) return;
  if (!parts.is_array()) throw std::invalid_argument("parts");
  for (const json& part : parts) {
    require_count(part.at("from_round"));
    require_count(part.at("to_round"));
    if (part.contains("device") && !part["device"].is_string())
      throw std::invalid_argument("device");
  }
}

}  // namespace

CheckpointNotes SavedState::to_notes() const {
  CheckpointNotes notes{{"ticopd", "1"},
                        {"round", std::to_string(round)},
                        {"config", config},
                        {"digest", digest},
                        {"ledger", ledger.dump()},
                        {"parts", parts.dump()},
                        {"bits_before", bits_before.dump()},
                        {"inputs", inputs.dump()},
                        {"machine", machine.dump()},
                        {"first_loss", first_loss ? json(*first_loss).dump() : "null"},
                        {"seconds", json(seconds).dump()}};
  if (logged) notes["logged"] = std::to_string(*logged);
  if (before_last_row) {
    json before{{"digest", before_last_row->digest}};
    if (before_last_row->logged) before["logged"] = *before_last_row->logged;
    notes["before_last_row"] = before.dump();
  }
  return notes;
}

void SavedState::read_before_last_row(const CheckpointNotes& notes,
                                      const std::filesystem::path& file) {
  const auto found = notes.find("before_last_row");
  if (found == notes.end()) return;
  const json value = parse_json(found->second);
  const json digest = value.is_object() ? value.value("digest", json()) : json();
  const json last = value.is_object() ? value.value("logged", json()) : json();
  const bool fits = last.is_null() || (last.is_number_unsigned() && last < round);
  if (!digest.is_string() || !fits)
    throw FormatError(file.string() + ": its notes are damaged: before_last_row");
  before_last_row = BeforeLastRow{.digest = digest, .logged = {}};
  if (!last.is_null()) before_last_row->logged = last;
}

void SavedState::make_longer(std::uint32_t iterations, const LogRounds& rounds,
                             const std::filesystem::path& file) {
  if (round >= iterations || logged != round || rounds(round, iterations)) return;
  if (!before_last_row)
    throw ConfigError(fmt::format(
        "{}: was made by an older version, which kept no state from before the row of round {}; a "
        "run of {} rounds does not log that round, so it cannot go on from here: give a new folder",
        file.string(), round, iterations));
  digest = before_last_row->digest;
  logged = before_last_row->logged;
  before_last_row.reset();
}

SavedState SavedState::read(const std::filesystem::path& file, int agents) {
  const auto damaged = [&](const std::string& why) {
    return FormatError(file.string() + ": its notes are damaged" + why);
  };
  const CheckpointNotes notes = read_checkpoint_notes(file);
  const auto round_of = [&](const std::string& text) {
    const auto round = parse_number<std::uint32_t>(text);
    if (!round) throw std::invalid_argument("round");
    return *round;
  };
  try {
    SavedState saved;
    saved.round = round_of(notes.at("round"));
    saved.digest = notes.at("digest");
    saved.ledger = note(notes, "ledger");
    check_ledger(saved.ledger, static_cast<std::size_t>(agents));
    if (const json loss = note(notes, "first_loss"); !loss.is_null())
      saved.first_loss = finite(loss);
    saved.seconds = finite(note(notes, "seconds"));
    if (saved.seconds < 0) throw std::invalid_argument("seconds");
    if (notes.contains("config")) saved.config = notes.at("config");
    saved.parts = note_if_there(notes, "parts");
    check_parts(saved.parts);
    saved.bits_before = note_if_there(notes, "bits_before");
    if (!saved.bits_before.is_null()) finite(saved.bits_before);
    saved.inputs = note_if_there(notes, "inputs");
    saved.machine = note_if_there(notes, "machine");
    if (notes.contains("logged")) saved.logged = round_of(notes.at("logged"));
    if (saved.logged && *saved.logged > saved.round) throw std::invalid_argument("logged");
    saved.read_before_last_row(notes, file);
    return saved;
  } catch (const std::out_of_range&) {
    throw damaged(": one is missing");
  } catch (const std::invalid_argument& e) {
    throw damaged(std::string(": ") + e.what());
  } catch (const json::exception&) {
    throw damaged("");
  }
}

}  // namespace ticopd
