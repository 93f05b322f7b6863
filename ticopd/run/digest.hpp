#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/network/any_network.hpp"

namespace ticopd {

// The XXH3-128 of an agent's row of x, canonical.
using RowHash = std::array<unsigned char, 16>;
RowHash row_hash(std::span<const std::byte> row);
// As text of 32 characters, and back: FormatError.
std::string hex_of(const RowHash& hash);
RowHash hash_of_hex(std::string_view text);

// The digest of a run: XXH3-128 over, for each logged round in order, the round number (u64, little
// endian) and the XXH3-128 (canonical, 16 bytes) of each agent's row of x in agent order. Each rank
// hashes its own rows, so no rank gathers x. The state can be saved and restored, so an
// interruption does not change the digest.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  // Collective: every rank calls it.
  template <class T>
  void add(AnyNetwork<T>& net, const Field<T>& x);
  // The same from the hashes of all rows, in agent order.
  void add(std::uint32_t round, std::span<const RowHash> rows);

  std::string hex() const;

  std::string state() const;                      // hex, for a checkpoint
  static Digest restore(std::string_view state);  // FormatError if it is not one

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template void Digest::add<float>(AnyNetwork<float>&, const Field<float>&);
extern template void Digest::add<double>(AnyNetwork<double>&, const Field<double>&);

}  // namespace ticopd
