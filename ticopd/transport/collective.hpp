#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ticopd/bytes.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Broadcast, gather and barrier for the run loop, written once over send and receive, so that every
// transport has them. For small payloads only; models travel row by row.

inline Bytes broadcast(Transport& t, std::uint32_t channel, int root, Bytes mine) {
  if (t.rank() != root) return t.receive(root, channel);
  for (int r = 0; r < t.size(); ++r)
    if (r != root) t.send(r, channel, mine);
  return mine;
}

inline std::vector<Bytes> all_gather(Transport& t, std::uint32_t channel, Bytes mine) {
  for (int r = 0; r < t.size(); ++r)
    if (r != t.rank()) t.send(r, channel, mine);
  std::vector<Bytes> all(static_cast<std::size_t>(t.size()));
  for (int r = 0; r < t.size(); ++r)
    if (r != t.rank()) all[static_cast<std::size_t>(r)] = t.receive(r, channel);
  all[static_cast<std::size_t>(t.rank())] = std::move(mine);
  return all;
}

inline void barrier(Transport& t, std::uint32_t channel) {
  if (t.size() > 1) (void)all_gather(t, channel, {});
}

// Every rank's values one after the other, in rank order.
template <class T>
std::vector<T> all_gather_values(Transport& t, std::uint32_t channel, std::span<const T> mine) {
  std::vector<T> all;
  for (const Bytes& part : all_gather(t, channel, to_bytes(mine))) {
    const std::vector<T> values = from_bytes<T>(part);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace ticopd
