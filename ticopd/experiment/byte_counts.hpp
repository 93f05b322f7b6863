#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/graph/graph.hpp"

namespace ticopd {

// What run.json counted, twice over: where the codec made the bytes, and where the transport took
// and gave them.
struct ByteCounts {
  struct Codec {
    std::uint64_t messages = 0, payload_bytes = 0;
  };
  struct Agent : Codec {
    std::vector<Codec> links = {};  // to each neighbour, ascending
  };
  struct Frames {
    std::uint64_t frames = 0, bytes = 0;  // bytes include the frames' headers
  };
  using ByAgentAndRank = std::map<std::pair<int, int>, Frames>;

  // One life of the process: a resumed run has several, on any number of ranks each.
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
    std::uint64_t control_sent = 0, control_received = 0;  // outside the ledger
  };

  Graph graph;
  std::uint64_t iterations = 0;
  std::uint64_t payload_bytes = 0;  // the ledger's own total
  std::vector<Codec> agents = {};
  std::map<std::pair<int, int>, std::uint64_t> links = {};  // payload bytes by (from, to)
  bool by_link = false;  // every message is for one neighbour; otherwise for all who listen
  std::string kind = {}, library = {};  // of the transport of the last part
  std::vector<Part> parts = {};
  std::vector<Rank> ranks = {};  // of the last part; empty where nothing could travel

  // What an agent's messages for the agents of one rank come to: a message for several of them
  // travels once.
  Codec to_carry(const Part& part, int agent, int rank) const;
};

// FormatError, naming run.json and the value, for what is missing, not a count, or names an agent
// or a rank that does not exist. Whether the counts agree is the audit's question.
ByteCounts read_byte_counts(const nlohmann::json& summary);

}  // namespace ticopd
