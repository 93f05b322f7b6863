#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

namespace ticopd {

// XXH3-128 over values added one after the other, as 32 hex digits. Two inputs with one fingerprint
// are taken for the same: it finds mix-ups and damage, not forgery.
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();
  Fingerprint(const Fingerprint&) = delete;
  Fingerprint& operator=(const Fingerprint&) = delete;

  Fingerprint& add_bytes(std::span<const std::byte> bytes);
  // Sizes go in as 64 bits, so that 32 and 64 bit systems agree.
  Fingerprint& add_size(std::uint64_t size) {
    return add_bytes(std::as_bytes(std::span(&size, 1)));
  }
  // The number of values, then the values: two lists never look like one.
  template <class Range>
  Fingerprint& add(const Range& range) {
    const std::span values(range);
    static_assert(std::is_arithmetic_v<typename decltype(values)::value_type>);
    return add_size(values.size()).add_bytes(std::as_bytes(values));
  }

  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ticopd
