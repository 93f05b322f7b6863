#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "ticopd/bytes.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {

// Bytes that stay as they are: a whole buffer, or a part of one. Copies and parts share the buffer,
// so a frame goes through session and message without being copied.
class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(Bytes bytes) {
    auto kept = std::make_shared<const Bytes>(std::move(bytes));
    bytes_ = *kept;
    owner_ = std::move(kept);
  }
  // `owner` keeps these bytes alive.
  SharedBytes(std::shared_ptr<const void> owner, std::span<const std::byte> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  const std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  auto begin() const { return bytes_.begin(); }
  auto end() const { return bytes_.end(); }
  bool operator==(const SharedBytes& other) const { return std::ranges::equal(*this, other); }

  SharedBytes part(std::size_t offset, std::size_t size) const {
    if (offset == 0 && size == bytes_.size()) return *this;  // and its hash
    return {owner_, bytes_.subspan(offset, size)};
  }

  // hash_row of them, which takes as long as a copy: computed once.
  std::uint64_t hash() const {
    if (!hash_) hash_ = hash_row(bytes_);
    return *hash_;
  }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> bytes_;
  mutable std::optional<std::uint64_t> hash_;
};

}  // namespace ticopd
