#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ticopd {

// The bytes really encoded, counted where the codec made them. One entry per hosted agent.
class Ledger {
 public:
  struct Agent {
    std::uint64_t messages = 0;
    std::uint64_t payload_bytes = 0;        // one broadcast counts once
    double paper_bits = 0;                  // what the papers' formula would say
    std::vector<std::uint64_t> link_bytes;  // to each neighbour, ascending
  };

  explicit Ledger(std::size_t rows = 0) : agents(rows) {}

  // `row` sent one payload to all its neighbours.
  void count(std::size_t row, std::size_t payload_bytes, double paper_bits) {
    Agent& a = agents[row];
    ++a.messages;
    a.payload_bytes += payload_bytes;
    a.paper_bits += paper_bits;
    for (std::uint64_t& link : a.link_bytes) link += payload_bytes;
  }

  std::vector<Agent> agents;
};

}  // namespace ticopd
