#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "ticopd/system/text.hpp"

namespace ticopd {

// An input read as a list of choices. Missing bytes count as zero.
class Script {
 public:
  explicit Script(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::size_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::size_t word() {
    const std::size_t low = byte();
    return low | byte() << 8;
  }
  std::string bytes() {
    const std::size_t asked = byte();  // first: it takes a byte away
    const std::size_t count = std::min(asked, bytes_.size());
    const std::string taken(reinterpret_cast<const char*>(bytes_.data()), count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  // JSON holds no other text, so no such file would get as far as its notes.
  std::string text() {
    const std::string taken = bytes();
    return is_utf8(taken) ? taken : plain(taken);
  }
  std::uint64_t number() {  // 8 bytes
    std::uint64_t n = 0;
    for (int shift = 0; shift < 64; shift += 8) n |= std::uint64_t{byte()} << shift;
    return n;
  }
  // One at which checks fail, or JSON that the input spells out.
  nlohmann::json value();

 private:
  std::span<const std::uint8_t> bytes_;
};

// Walks down from `root`, a byte a step, and replaces what it comes to; 255 stops.
void replace_inside(nlohmann::json& root, Script& script);

// Writes `over` over the bytes at that place, which may be behind the end.
void splice(std::string& text, std::size_t place, const std::string& over);

}  // namespace ticopd
