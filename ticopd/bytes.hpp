#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "ticopd/error.hpp"

namespace ticopd {

// An encoded message, a frame, or a control message between ranks.
using Bytes = std::vector<std::byte>;

template <class T>
Bytes to_bytes(std::span<const T> values) {
  Bytes bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(T) != 0) throw FormatError("a control message is cut off");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// FormatError unless there are exactly `count` values.
template <class T>
std::vector<T> from_bytes(std::span<const std::byte> bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(T))
    throw FormatError("a control message has " + std::to_string(bytes.size()) +
                      " bytes, expected " + std::to_string(count * sizeof(T)));
  return from_bytes<T>(bytes);
}

}  // namespace ticopd
