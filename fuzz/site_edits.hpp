#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "ticopd/bytes.hpp"

namespace ticopd {

// The checkpoint of a site taken apart; `body` has the frames and the rows.
struct SiteParts {
  std::string magic;
  nlohmann::json head;
  std::string body;
};

SiteParts take_apart_site(std::span<const std::byte> file);

// An input of fuzz_site_checkpoint is a byte of choices and then edits, each a byte that says which
// and its own bytes. Missing bytes count as zero.
enum class SiteEdit : std::uint8_t {
  value,        // path, value: a value of the head
  key,          // path of two, text: another name for a key
  body_bytes,   // place (2), text: over the bytes of frames and rows
  resize_body,  // new size (2)
  count
};

inline constexpr std::uint8_t site_case = 3;   // which run; 3: the rest is the file
inline constexpr std::uint8_t site_hash = 4;   // a wrong hash
inline constexpr std::uint8_t site_again = 8;  // start both once more after their end
inline constexpr std::uint8_t site_two = 16;   // an older checkpoint that is right is there, too

// Carries out the edits of an input, its first byte left out.
void edit(SiteParts& parts, std::span<const std::uint8_t> edits);

// The file again, with its hash.
Bytes put_together(const SiteParts& parts, bool right_hash);

}  // namespace ticopd
