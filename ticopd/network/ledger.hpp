#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ticopd {

// Counts the bytes really encoded, where the codec makes them. One entry per hosted agent.
class Ledger {
 public:
  struct Agent {
    std::uint64_t messages = 0;
    std::uint64_t payload_bytes = 0;  // one broadcast counts once
    double paper_bits = 0;            // what the papers' formulas count
    std::uint64_t saturated = 0;      // coordinates outside the range of a codec
    // Per neighbour, in ascending order.
    std::vector<std::uint64_t> link_messages, link_bytes;
  };

  explicit Ledger(std::size_t rows = 0) : agents(rows) {}

  // `row` sent one payload over these of its links. Without links it costs nothing.
  void count(std::size_t row, std::size_t payload_bytes, double paper_bits,
             std::span<const std::size_t> links) {
    if (links.empty()) return;
    Agent& a = agents[row];
    ++a.messages;
    a.payload_bytes += payload_bytes;
    a.paper_bits += paper_bits;
    for (const std::size_t link : links) {
      ++a.link_messages[link];
      a.link_bytes[link] += payload_bytes;
    }
  }

  std::vector<Agent> agents;
};

}  // namespace ticopd
