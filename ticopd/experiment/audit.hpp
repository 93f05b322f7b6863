#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ticopd/experiment/byte_counts.hpp"

namespace ticopd {

// Compares the byte ledger of a run with the bytes that its transport carried. A frame of agent i
// (frame_header_bytes and the payload) goes once to each other rank that hosts a neighbour of i.
// Within a rank nothing travels. Any other count is a finding.
struct Audit {
  struct Agent {
    std::uint64_t messages = 0, payload_bytes = 0;  // by the codec
    std::uint64_t to_carry = 0;           // payload bytes, once per rank that hosts a neighbour
    std::uint64_t frames = 0, bytes = 0;  // given to the transport
    std::uint64_t received_bytes = 0;     // taken from the transport by other ranks
    std::uint64_t framing_bytes = 0;
    std::int64_t difference = 0;  // bytes - framing_bytes - to_carry
  };
  // The traffic of a link between one pair of ranks. One frame serves all neighbours on a rank, so
  // links that share a frame show the same frames.
  struct Carrier {
    int from_rank = 0, to_rank = 0;  // equal: through memory, without frames
    std::uint64_t frames = 0, bytes = 0;
  };
  struct Link {
    int from = 0, to = 0;
    std::uint64_t payload_bytes = 0;
    std::vector<Carrier> carriers;  // several if the agents moved between ranks
  };

  std::vector<Agent> agents = {};
  std::vector<Link> links = {};
  Agent total = {};
  ByteCounts counts;
  std::vector<std::string> findings = {};  // sentences; empty if all counts agree

  bool anything_travelled() const { return total.frames > 0; }
};

// Audits a run.json. FormatError if it is damaged, or if it was written before ticopd counted bytes
// at the transport.
Audit audit_ledger(const nlohmann::json& summary);

nlohmann::json to_json(const Audit& audit);

}  // namespace ticopd
