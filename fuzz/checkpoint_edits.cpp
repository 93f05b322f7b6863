#include "fuzz/checkpoint_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "fuzz/script.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

constexpr const char* notes_key = "__metadata__";

json* chosen_note(json& notes, Script& script) {
  const std::size_t which = script.byte();
  if (notes.empty()) return nullptr;
  auto note = notes.begin();
  std::advance(note, static_cast<std::ptrdiff_t>(which % notes.size()));
  return &*note;
}

// The state is written as hex after "VERSION:". An odd number asks for one of the values.
void set_digest_word(json& notes, Script& script) {
  const std::size_t word = script.byte();
  std::size_t number = 0;
  for (int shift = 0; shift < 32; shift += 8) number |= script.byte() << shift;
  if (!notes.contains("digest") || !notes["digest"].is_string()) return;
  auto state = notes["digest"].get<std::string>();
  const std::size_t colon = state.find(':');
  if (colon == std::string::npos || state.size() < colon + 9) return;
  const std::size_t words = (state.size() - colon - 1) / 8;
  std::string hex;
  for (std::size_t b = 0; b < 4; ++b) hex += fmt::format("{:02x}", number >> (8 * b) & 0xff);
  // The sizes are in the last words.
  splice(state, colon + 1 + 8 * (words - 1 - word % words), hex);
  notes["digest"] = state;
}

void edit_once(CheckpointParts& parts, Script& script) {
  json& notes = parts.header[notes_key];
  const auto which =
      static_cast<CheckpointEdit>(script.byte() % static_cast<std::size_t>(CheckpointEdit::count));
  switch (which) {
    case CheckpointEdit::value_in_note:
      if (json* note = chosen_note(notes, script); note != nullptr && note->is_string()) {
        json inside = parse_json(note->get<std::string>());
        if (inside.is_discarded()) return;
        replace_inside(inside, script);
        *note = inside.dump();
      }
      return;
    case CheckpointEdit::value_in_entry: {
      json entries = parts.header;
      entries.erase(notes_key);
      replace_inside(entries, script);
      if (!entries.is_object()) return;
      entries[notes_key] = notes;
      parts.header = std::move(entries);
      return;
    }
    case CheckpointEdit::text_of_note:
      if (json* note = chosen_note(notes, script)) *note = script.text();
      return;
    case CheckpointEdit::remove_note: {
      const std::size_t number = script.byte();
      if (notes.empty()) return;
      auto note = notes.begin();
      std::advance(note, static_cast<std::ptrdiff_t>(number % notes.size()));
      notes.erase(note);
      return;
    }
    case CheckpointEdit::splice_note:
      if (json* note = chosen_note(notes, script); note != nullptr && note->is_string()) {
        auto text = note->get<std::string>();
        const std::size_t place = script.word();
        splice(text, place, script.text());
        *note = is_utf8(text) ? text : plain(text);
      }
      return;
    case CheckpointEdit::digest_word:
      set_digest_word(notes, script);
      return;
    case CheckpointEdit::data_bytes: {
      const std::size_t place = script.word();
      splice(parts.data, place, script.bytes());
      return;
    }
    case CheckpointEdit::resize_data:
      parts.data.resize(script.word() % 1024);
      return;
    case CheckpointEdit::add_note: {
      const std::string name = script.text();
      notes[name] = script.text();
      return;
    }
    case CheckpointEdit::count:
      return;
  }
}

std::string hash_of(std::string_view bytes) {
  return fmt::format("{:016x}", hash_row(std::as_bytes(std::span(bytes))));
}

// The hashes of a tensor's rows, if its entry says where they are.
void set_row_hashes(json& notes, std::string_view data, const std::string& name,
                    const json& entry) {
  if (!entry.is_object()) return;
  const json shape = entry.value("shape", json()), offsets = entry.value("data_offsets", json());
  const auto counts = [](const json& list) {
    return list.is_array() && list.size() == 2 && list[0].is_number_unsigned() &&
           list[1].is_number_unsigned();
  };
  if (!counts(shape) || !counts(offsets) || offsets[0] > offsets[1]) return;
  const std::uint64_t begin = offsets[0], end = offsets[1], rows = shape[0];
  if (end > data.size() || rows == 0 || rows > end - begin || (end - begin) % rows != 0) return;
  const std::uint64_t row_bytes = (end - begin) / rows;
  std::string hashes;
  for (std::uint64_t row = 0; row < rows; ++row)
    hashes += hash_of(data.substr(begin + row * row_bytes, row_bytes));
  notes["hashes of " + name] = hashes;
}

}  // namespace

CheckpointParts take_apart(std::string_view file) {
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof length);
  return {parse_json(file.substr(sizeof length, length)),
          std::string(file.substr(sizeof length + length))};
}

void edit(CheckpointParts& parts, std::span<const std::uint8_t> edits) {
  constexpr int most = 16;
  Script script(edits);
  for (int n = 0; n < most && !script.empty(); ++n) edit_once(parts, script);
}

std::string put_together(CheckpointParts parts, bool rows, bool header) {
  json notes = std::move(parts.header[notes_key]);
  parts.header.erase(notes_key);
  if (rows)
    for (const auto& [name, entry] : parts.header.items())
      set_row_hashes(notes, parts.data, name, entry);
  json& kept = parts.header[notes_key];
  kept = std::move(notes);
  if (header) {
    kept.erase("check");
    kept["check"] = hash_of(parts.header.dump());
  }
  std::string text = parts.header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  text.insert(0, reinterpret_cast<const char*>(&length), sizeof length);
  return text + parts.data;
}

}  // namespace ticopd
