#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd {

// The two byte counts in run.json: one taken where the codec made the bytes, one where the
// transport sent and received them.
struct ByteCounts {
  struct Codec {
    std::uint64_t messages = 0, payload_bytes = 0;
  };
  struct Agent : Codec {
    std::vector<Codec> links = {};  // one per neighbour, in ascending order
  };
  struct Frames {
    std::uint64_t frames = 0, bytes = 0;  // bytes include the frames' headers
  };
  using ByAgentAndRank = std::map<std::pair<int, int>, Frames>;

  // The rounds between two starts of the processes. A resumed run has several parts, each with its
  // own number of ranks.
  struct Part {
    std::vector<int> first;  // the first agent of each rank
    std::uint64_t from_round = 0, to_round = 0;
    std::vector<Agent> agents;
    ByAgentAndRank sent, received;

    int ranks() const { return static_cast<int>(first.size()); }
    int owner(int agent) const;
  };

  struct Direction {
    std::uint64_t frames = 0, payload_bytes = 0, framing_bytes = 0;
  };
  struct Rank {
    std::string host;
    int first = 0, last = 0;
    Direction sent, received;
    std::uint64_t control_sent = 0, control_received = 0;  // not in the ledger
  };

  Graph graph;
  std::uint64_t iterations = 0;
  std::uint64_t payload_bytes = 0;  // the ledger's own total
  std::vector<Codec> agents = {};
  std::map<std::pair<int, int>, std::uint64_t> links = {};  // payload bytes by (from, to)
  bool by_link = false;  // each message is for one neighbour; else for all that listen
  std::string kind = {}, library = {};  // of the transport of the last part
  std::vector<Part> parts = {};
  std::vector<Rank> ranks = {};  // of the last part; empty if there is no transport

  // The messages and payload that an agent sends to one rank. A message for several agents of that
  // rank travels once.
  Codec to_carry(const Part& part, int agent, int rank) const;
};

// FormatError if a value is missing, is not a count, or names an agent or a rank that does not
// exist. The error names run.json and the value. The audit checks whether the counts agree, not
// this function.
ByteCounts read_byte_counts(const nlohmann::json& summary);

}  // namespace ticopd
