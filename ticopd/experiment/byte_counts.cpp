#include "ticopd/experiment/byte_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ticopd/error.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// A value of run.json together with its path, so that an error can say where the file is wrong.
class Value {
 public:
  Value(const json& value, std::string path) : value_(value), path_(std::move(path)) {}

  [[noreturn]] void refuse(std::string_view why) const {
    throw FormatError(fmt::format("run.json: {}: {}", path_.empty() ? "the file" : path_, why));
  }

  bool has(const char* key) const { return value_.is_object() && value_.contains(key); }

  Value at(const char* key) const {
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (!has(key)) throw FormatError(fmt::format("run.json: {}: is missing", path));
    return {value_.at(key), path};
  }

  std::vector<Value> list() const {
    if (!value_.is_array()) refuse("is not a list");
    std::vector<Value> all;
    for (std::size_t i = 0; i < value_.size(); ++i)
      all.emplace_back(value_[i], fmt::format("{}[{}]", path_, i));
    return all;
  }

  // At most 2^53: above it other JSON readers lose digits, and our sums could wrap.
  std::uint64_t count() const { return up_to(std::uint64_t{1} << 53); }

  int below(std::size_t end) const {
    if (end == 0) refuse("names an agent or a rank, but there are none");
    return static_cast<int>(up_to(end - 1));
  }

  std::string text() const {
    if (!value_.is_string()) refuse("is not a string");
    return value_.get<std::string>();
  }

 private:
  std::uint64_t up_to(std::uint64_t most) const {
    const bool negative = !value_.is_number_unsigned() && value_.is_number_integer() &&
                          value_.get<std::int64_t>() < 0;
    if (value_.is_number_integer() && !negative && value_.get<std::uint64_t>() <= most)
      return value_.get<std::uint64_t>();
    std::string given = value_.dump(-1, ' ', true, json::error_handler_t::replace);
    if (given.size() > 40) given = given.substr(0, 40) + "...";
    throw FormatError(fmt::format("run.json: {} = {}: allowed are whole numbers from 0 to {}",
                                  path_, given, most));
  }

  const json& value_;
  std::string path_;
};

ByteCounts::Codec codec_of(const Value& v) {
  return {v.at("messages").count(), v.at("payload_bytes").count()};
}

// Reads one entry per agent, in agent order.
template <class Entry>
std::vector<Entry> in_order(const Value& list, std::size_t agents,
                            const std::function<Entry(const Value&, int agent)>& read) {
  const std::vector<Value> entries = list.list();
  if (entries.size() != agents)
    list.refuse(fmt::format("has {} entries, but there are {} agents", entries.size(), agents));
  std::vector<Entry> all;
  for (std::size_t i = 0; i < agents; ++i) {
    const Value agent = entries[i].at("agent");
    if (static_cast<std::size_t>(agent.below(agents)) != i)
      agent.refuse(fmt::format("the list is in the order of the agents: expected {}", i));
    all.push_back(read(entries[i], static_cast<int>(i)));
  }
  return all;
}

// Without a list of links, every message went over every link.
ByteCounts::Agent agent_of(const Value& v, int degree) {
  ByteCounts::Agent agent{codec_of(v), {}};
  agent.links.assign(static_cast<std::size_t>(degree), agent);
  if (!v.has("links")) return agent;
  const std::vector<Value> links = v.at("links").list();
  if (links.size() != agent.links.size())
    v.at("links").refuse(fmt::format("has {} entries, but the agent {} neighbours", links.size(),
                                     agent.links.size()));
  for (std::size_t k = 0; k < links.size(); ++k) {
    const std::vector<Value> pair = links[k].list();
    if (pair.size() != 2) links[k].refuse("is not a pair: messages and payload bytes");
    agent.links[k] = {pair[0].count(), pair[1].count()};
  }
  return agent;
}

Graph graph_of(const Value& root, std::size_t agents) {
  std::vector<std::pair<int, int>> edges;
  for (const Value& edge : root.at("edges").list()) {
    const std::vector<Value> ends = edge.list();
    if (ends.size() != 2) edge.refuse("is not a pair of agents");
    edges.emplace_back(ends[0].below(agents), ends[1].below(agents));
  }
  try {
    return Graph(static_cast<int>(agents), edges);
  } catch (const ConfigError& e) {
    root.at("edges").refuse(e.what());
  }
}

ByteCounts::ByAgentAndRank frames_of(const Value& list, std::size_t agents, std::size_t ranks) {
  ByteCounts::ByAgentAndRank all;
  for (const Value& entry : list.list()) {
    const std::pair key{entry.at("agent").below(agents), entry.at("rank").below(ranks)};
    const ByteCounts::Frames frames{entry.at("frames").count(), entry.at("bytes").count()};
    if (!all.emplace(key, frames).second)
      entry.refuse(
          fmt::format("agent {} and rank {} are in the list twice", key.first, key.second));
  }
  return all;
}

ByteCounts::Part part_of(const Value& v, const Graph& graph) {
  const auto agents = static_cast<std::size_t>(graph.agents());
  ByteCounts::Part part;
  const std::vector<Value> first = v.at("first").list();
  const int ranks = v.at("ranks").below(agents + 1);
  if (ranks == 0 || first.size() != static_cast<std::size_t>(ranks))
    v.at("ranks").refuse(
        fmt::format("{} ranks, but \"first\" names the first agent of {}", ranks, first.size()));
  for (const Value& f : first) {
    const int agent = f.below(agents);
    if (part.first.empty() ? agent != 0 : agent <= part.first.back())
      f.refuse("each rank must host a block of agents, ascending from agent 0");
    part.first.push_back(agent);
  }
  part.from_round = v.at("from_round").count();
  part.to_round = v.at("to_round").count();
  part.agents = in_order<ByteCounts::Agent>(
      v.at("agents"), agents,
      [&](const Value& entry, int agent) { return agent_of(entry, graph.degree(agent)); });
  part.sent = frames_of(v.at("sent"), agents, first.size());
  part.received = frames_of(v.at("received"), agents, first.size());
  return part;
}

ByteCounts::Direction direction_of(const Value& v) {
  return {v.at("frames").count(), v.at("payload_bytes").count(), v.at("framing_bytes").count()};
}

ByteCounts::Rank rank_of(const Value& v, std::size_t index, std::size_t ranks, std::size_t agents) {
  if (static_cast<std::size_t>(v.at("rank").below(ranks)) != index)
    v.at("rank").refuse(fmt::format("the list is in the order of the ranks: expected {}", index));
  const std::vector<Value> block = v.at("agents").list();
  if (block.size() != 2) v.at("agents").refuse("is not a pair of agents: first and last");
  return {v.has("host") ? v.at("host").text() : "",
          block[0].below(agents),
          block[1].below(agents),
          direction_of(v.at("sent")),
          direction_of(v.at("received")),
          v.at("control").at("sent_bytes").count(),
          v.at("control").at("received_bytes").count()};
}

void read_transport(const Value& transport, ByteCounts& counts) {
  const std::size_t agents = counts.agents.size();
  counts.kind = transport.at("kind").text();
  if (!transport_table().find(counts.kind))
    throw FormatError("run.json: " +
                      not_allowed("transport.kind", counts.kind, transport_table().names()));
  if (transport.has("library")) counts.library = transport.at("library").text();
  counts.by_link = transport.has("by_link");
  for (const Value& part : transport.at("parts").list())
    counts.parts.push_back(part_of(part, counts.graph));
  if (counts.parts.empty()) transport.at("parts").refuse("is empty");
  if (counts.kind == "none" && !transport.has("ranks")) return;
  const std::vector<Value> ranks = transport.at("ranks").list();
  for (std::size_t r = 0; r < ranks.size(); ++r)
    counts.ranks.push_back(rank_of(ranks[r], r, ranks.size(), agents));
}

}  // namespace

int ByteCounts::Part::owner(int agent) const {
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), agent) - first.begin()) - 1;
}

ByteCounts::Codec ByteCounts::to_carry(const Part& part, int agent, int rank) const {
  Codec sum;
  const std::vector<int>& neighbours = graph.neighbours(agent);
  for (std::size_t k = 0; k < neighbours.size(); ++k) {
    if (part.owner(neighbours[k]) != rank) continue;
    const Codec& link = part.agents[static_cast<std::size_t>(agent)].links[k];
    // One message per link adds up; a message for all travels once, so the busiest link counts.
    sum.messages = by_link ? sum.messages + link.messages : std::max(sum.messages, link.messages);
    sum.payload_bytes = by_link ? sum.payload_bytes + link.payload_bytes
                                : std::max(sum.payload_bytes, link.payload_bytes);
  }
  return sum;
}

ByteCounts read_byte_counts(const json& summary) {
  const Value root(summary, "");
  if (!root.has("transport"))
    throw FormatError(fmt::format(
        "run.json: {}; there is nothing to compare the ledger with",
        root.has("status") && summary.at("status") == "diverged"
            ? "the run diverged, and the byte counts of its transport were not kept"
            : "was made by a version of ticopd that did not count bytes at the transport"));
  const Value ledger = root.at("ledger");
  // Take the number of agents from the list, so that a damaged number cannot make us allocate too
  // much.
  const std::size_t agents = ledger.at("agents").list().size();
  if (agents == 0 || root.at("agents").count() != agents)
    ledger.at("agents").refuse(
        fmt::format("has {} entries, but \"agents\" says {}", agents, root.at("agents").count()));
  ByteCounts counts{.graph = graph_of(root, agents)};
  counts.iterations = root.at("iterations").count();
  counts.payload_bytes = ledger.at("payload_bytes").count();
  counts.agents = in_order<ByteCounts::Codec>(
      ledger.at("agents"), agents, [](const Value& entry, int) { return codec_of(entry); });
  for (const Value& link : ledger.at("links").list()) {
    const std::pair key{link.at("from").below(agents), link.at("to").below(agents)};
    if (!counts.links.emplace(key, link.at("payload_bytes").count()).second)
      link.refuse(
          fmt::format("the link from {} to {} is in the list twice", key.first, key.second));
  }
  read_transport(root.at("transport"), counts);
  return counts;
}

}  // namespace ticopd
