#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ticopd/experiment/byte_counts.hpp"

namespace ticopd {

// The byte ledger of a run beside what its transport carried. Agent i's frame, frame_header_bytes
// and the payload, goes once to each other rank that hosts a neighbour of i; within a rank nothing
// travels. Whatever else was counts is a finding.
struct Audit {
  struct Agent {
    std::uint64_t messages = 0, payload_bytes = 0;  // by the codec
    std::uint64_t to_carry = 0;           // payload bytes, once for each rank that listens
    std::uint64_t frames = 0, bytes = 0;  // handed to the transport
    std::uint64_t received_bytes = 0;     // taken from it
    std::uint64_t framing_bytes = 0;
    std::int64_t difference = 0;  // bytes - framing_bytes - to_carry
  };
  // What one way of a link carried. The same frame serves all neighbours on a rank, so links that
  // share it show the same frames.
  struct Carrier {
    int from_rank = 0, to_rank = 0;  // the same rank: memory, and no frames
    std::uint64_t frames = 0, bytes = 0;
  };
  struct Link {
    int from = 0, to = 0;
    std::uint64_t payload_bytes = 0;
    std::vector<Carrier> carriers;  // several where parts of the run dealt the agents differently
  };

  std::vector<Agent> agents = {};
  std::vector<Link> links = {};
  Agent total = {};
  ByteCounts counts;
  std::vector<std::string> findings = {};  // sentences; empty where all agrees

  bool anything_travelled() const { return total.frames > 0; }
};

// Of run.json. FormatError where it is damaged, or older than the counts of the transport.
Audit audit_ledger(const nlohmann::json& summary);

nlohmann::json to_json(const Audit& audit);

}  // namespace ticopd
