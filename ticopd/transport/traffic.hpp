#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace ticopd {

// Counts of what one rank handed to its transport and received from it.
struct Traffic {
  struct Count {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;  // headers included

    Count& operator+=(const Count& other) {
      frames += other.frames;
      bytes += other.bytes;
      return *this;
    }
  };
  // By the agent in the frame's header, and the rank at the other end.
  using ByAgent = std::map<std::pair<std::uint32_t, int>, Count>;

  ByAgent sent, received;
  Count control_sent, control_received;  // metrics, digests, checkpoints: what no ledger counts

  // The agent is read from the bytes (docs/wire_format.md): a count that trusted the sender's
  // argument could not find a frame sent in the name of another agent.
  static constexpr std::uint32_t no_agent = 0xffffffff;
  static std::uint32_t agent_of(std::span<const std::byte> frame) {
    constexpr std::size_t offset = 16;
    std::uint32_t agent = no_agent;
    if (frame.size() >= offset + sizeof agent)
      std::memcpy(&agent, frame.data() + offset, sizeof agent);
    return agent;
  }
};

}  // namespace ticopd
