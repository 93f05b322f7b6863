#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace ticopd {

// A checkpoint taken apart: the header without padding, and the bytes of the tensors.
struct CheckpointParts {
  nlohmann::json header;
  std::string data;
};

CheckpointParts take_apart(std::string_view file);

// An input of fuzz_checkpoint is a byte of choices and then edits, each a byte that says which and
// its own bytes. Missing bytes count as zero.
enum class CheckpointEdit : std::uint8_t {
  value_in_note,   // note, path, value: a value inside a note that is JSON
  value_in_entry,  // path, value: a value of a tensor's entry
  text_of_note,    // note, text
  remove_note,     // note
  splice_note,     // note, place (2), text: over the characters at that place
  digest_word,     // word, number: 4 bytes of the digest's state
  data_bytes,      // place (2), text: over the bytes of the tensors
  resize_data,     // new size (2)
  add_note,        // text, text
  count
};

inline constexpr std::uint8_t checkpoint_case = 3;    // which run; 3: the rest is the file
inline constexpr std::uint8_t checkpoint_rows = 4;    // leave the rows' hashes as they were
inline constexpr std::uint8_t checkpoint_header = 8;  // leave the header's hash as it was
inline constexpr std::uint8_t checkpoint_save = 16;   // save again after resuming

// Carries out the edits of an input, its first byte left out.
void edit(CheckpointParts& parts, std::span<const std::uint8_t> edits);

// The file again, with hashes that are right: of the rows if `rows`, of the header if `header`.
std::string put_together(CheckpointParts parts, bool rows, bool header);

}  // namespace ticopd
