#include "ticopd/experiment/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// Runs all checks. Each check adds a sentence for every two numbers that should be equal and are
// not.
class Checks {
 public:
  Checks(const ByteCounts& counts, std::vector<std::string>& findings)
      : c_(counts), findings_(findings) {}

  void operator()() {
    ledger();
    rounds();
    for (std::size_t p = 0; p < c_.parts.size(); ++p) part(p);
    ranks();
  }

 private:
  void same(std::uint64_t a, std::uint64_t b, const std::string& where, std::string_view what_a,
            std::string_view what_b) {
    if (a != b) findings_.push_back(fmt::format("{}: {} {}, {} {}", where, what_a, a, what_b, b));
  }

  void ledger() {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < c_.agents.size(); ++i) {
      const std::string where = fmt::format("agent {}", i);
      ByteCounts::Codec parts;
      for (const ByteCounts::Part& p : c_.parts) {
        parts.messages += p.agents[i].messages;
        parts.payload_bytes += p.agents[i].payload_bytes;
      }
      same(c_.agents[i].messages, parts.messages, where, "messages in the ledger",
           "in all parts together");
      same(c_.agents[i].payload_bytes, parts.payload_bytes, where, "payload bytes in the ledger",
           "in all parts together");
      total += c_.agents[i].payload_bytes;
      links_of(i);
    }
    for (const auto& [ends, bytes] : c_.links)
      if (!neighbours(ends.first, ends.second))
        findings_.push_back(fmt::format("link {} -> {}: has {} payload bytes, but no edge",
                                        ends.first, ends.second, bytes));
    same(c_.payload_bytes, total, "ledger", "payload bytes", "of all agents together");
  }

  // Every byte of an agent travelled on some link: with `by_link` on exactly one, otherwise on all
  // links whose agents listened.
  void links_of(std::size_t i) {
    std::uint64_t all = 0, most = 0;
    const std::vector<int>& neighbours = c_.graph.neighbours(static_cast<int>(i));
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
      const std::string where = fmt::format("link {} -> {}", i, neighbours[k]);
      const auto link = c_.links.find({static_cast<int>(i), neighbours[k]});
      if (link == c_.links.end()) {
        findings_.push_back(where + ": is missing from the ledger");
        continue;
      }
      std::uint64_t parts = 0;
      for (const ByteCounts::Part& p : c_.parts) parts += p.agents[i].links[k].payload_bytes;
      same(link->second, parts, where, "payload bytes in the ledger", "in all parts together");
      all += link->second;
      most = std::max(most, link->second);
    }
    if (!neighbours.empty())
      same(c_.by_link ? all : most, c_.agents[i].payload_bytes, fmt::format("agent {}", i),
           c_.by_link ? "payload bytes of all its links" : "payload bytes of its busiest link",
           "of the agent");
  }

  bool neighbours(int i, int j) const {
    const std::vector<int>& all = c_.graph.neighbours(i);
    return std::ranges::binary_search(all, j);
  }

  // Every round must belong to exactly one part.
  void rounds() {
    std::uint64_t done = 0;
    for (std::size_t p = 0; p < c_.parts.size(); ++p) {
      const ByteCounts::Part& part = c_.parts[p];
      same(part.from_round, done, fmt::format("part {}", p), "begins after round",
           "but the parts before it end with");
      if (part.to_round < part.from_round)
        findings_.push_back(fmt::format("part {}: ends with round {}, before it begins, after {}",
                                        p, part.to_round, part.from_round));
      done = part.to_round;
    }
    same(done, c_.iterations, fmt::format("part {}", c_.parts.size() - 1), "ends with round",
         "but the run with");
  }

  void part(std::size_t p) {
    const ByteCounts::Part& part = c_.parts[p];
    // The pairs (agent, rank) that need frames: the rank hosts a neighbour, but not the agent.
    std::set<std::pair<int, int>> called_for;
    for (int i = 0; i < c_.graph.agents(); ++i)
      for (const int j : c_.graph.neighbours(i))
        if (part.owner(i) != part.owner(j)) called_for.emplace(i, part.owner(j));
    for (const auto& [agent, rank] : called_for) carried(p, agent, rank);
    const auto refuse_others = [&](const ByteCounts::ByAgentAndRank& list, std::string_view verb) {
      for (const auto& [key, frames] : list)
        if (!called_for.contains(key))
          findings_.push_back(
              fmt::format("part {}, agent {}, rank {}: {} frames of {} bytes were {}, but {}", p,
                          key.first, key.second, frames.frames, frames.bytes, verb,
                          part.owner(key.first) == key.second ? "the agent is hosted there"
                                                              : "the rank hosts no neighbour"));
    };
    refuse_others(part.sent, "sent");
    refuse_others(part.received, "received");
  }

  void carried(std::size_t p, int agent, int rank) {
    const ByteCounts::Part& part = c_.parts[p];
    const ByteCounts::Codec codec = c_.to_carry(part, agent, rank);
    const std::string where = fmt::format("part {}, agent {}, rank {}", p, agent, rank);
    const auto entry = [&](const ByteCounts::ByAgentAndRank& list, std::string_view name) {
      const auto found = list.find({agent, rank});
      if (found != list.end()) return found->second;
      if (codec.messages > 0)
        findings_.push_back(fmt::format("{}: is missing from \"{}\", with {} messages to carry",
                                        where, name, codec.messages));
      return ByteCounts::Frames{};
    };
    const ByteCounts::Frames sent = entry(part.sent, "sent");
    const ByteCounts::Frames received = entry(part.received, "received");
    same(sent.frames, codec.messages, where, "frames sent", "messages made by the codec");
    same(sent.bytes, codec.payload_bytes + frame_header_bytes * sent.frames, where, "bytes sent",
         fmt::format("payload and {} bytes of framing a frame make", frame_header_bytes));
    same(received.frames, sent.frames, where, "frames received", "sent");
    same(received.bytes, sent.bytes, where, "bytes received", "sent");
  }

  // Compares the last part with the ranks' own sums.
  void ranks() {
    const std::size_t p = c_.parts.size() - 1;
    const ByteCounts::Part& part = c_.parts[p];
    if (c_.kind == "none" && part.ranks() != 1)
      findings_.push_back(fmt::format("part {}: has {} ranks, but no transport", p, part.ranks()));
    if (c_.kind == "none" && c_.ranks.empty()) return;
    same(c_.ranks.size(), static_cast<std::uint64_t>(part.ranks()), fmt::format("part {}", p),
         "ranks that reported", "ranks");
    if (c_.ranks.size() != part.first.size()) return;
    std::vector<ByteCounts::Frames> sent(part.first.size()), received(part.first.size());
    const auto add = [](ByteCounts::Frames& sum, const ByteCounts::Frames& f) {
      sum.frames += f.frames;
      sum.bytes += f.bytes;
    };
    for (const auto& [key, frames] : part.sent)
      add(sent[static_cast<std::size_t>(part.owner(key.first))], frames);
    for (const auto& [key, frames] : part.received)
      add(received[static_cast<std::size_t>(key.second)], frames);
    for (std::size_t r = 0; r < c_.ranks.size(); ++r) {
      const std::string where = fmt::format("part {}, rank {}", p, r);
      const int end = r + 1 < part.first.size() ? part.first[r + 1] : c_.graph.agents();
      const ByteCounts::Rank& rank = c_.ranks[r];
      same(static_cast<std::uint64_t>(rank.first), static_cast<std::uint64_t>(part.first[r]), where,
           "the rank's first agent is", "the part's");
      same(static_cast<std::uint64_t>(rank.last), static_cast<std::uint64_t>(end - 1), where,
           "the rank's last agent is", "the part's");
      direction(rank.sent, sent[r], where, "sent");
      direction(rank.received, received[r], where, "received");
    }
  }

  void direction(const ByteCounts::Direction& rank, const ByteCounts::Frames& part,
                 const std::string& where, std::string_view verb) {
    same(rank.frames, part.frames, where, fmt::format("frames {}, by the rank,", verb),
         "by the part's agents");
    same(rank.framing_bytes, frame_header_bytes * part.frames, where,
         fmt::format("framing bytes {}, by the rank,", verb), "for the frames of the part");
    same(rank.payload_bytes + rank.framing_bytes, part.bytes, where,
         fmt::format("bytes {}, by the rank,", verb), "by the part's agents");
  }

  const ByteCounts& c_;
  std::vector<std::string>& findings_;
};

void add(Audit::Agent& total, const Audit::Agent& a) {
  total.messages += a.messages;
  total.payload_bytes += a.payload_bytes;
  total.to_carry += a.to_carry;
  total.frames += a.frames;
  total.bytes += a.bytes;
  total.received_bytes += a.received_bytes;
  total.framing_bytes += a.framing_bytes;
}

// Subtracts unsigned numbers: a damaged file must not cause a signed overflow.
void find_difference(Audit::Agent& a) {
  a.difference = static_cast<std::int64_t>(a.bytes - a.framing_bytes - a.to_carry);
}

Audit::Agent agent_row(const ByteCounts& c, int agent) {
  const auto i = static_cast<std::size_t>(agent);
  Audit::Agent row;
  row.messages = c.agents[i].messages;
  row.payload_bytes = c.agents[i].payload_bytes;
  for (const ByteCounts::Part& part : c.parts) {
    // The other ranks that host a neighbour: each of them gets the payload once.
    std::set<int> listeners;
    for (const int j : c.graph.neighbours(agent)) listeners.insert(part.owner(j));
    listeners.erase(part.owner(agent));
    for (const int rank : listeners) row.to_carry += c.to_carry(part, agent, rank).payload_bytes;
    for (auto s = part.sent.lower_bound({agent, 0});
         s != part.sent.end() && s->first.first == agent; ++s) {
      row.frames += s->second.frames;
      row.bytes += s->second.bytes;
    }
    for (auto s = part.received.lower_bound({agent, 0});
         s != part.received.end() && s->first.first == agent; ++s)
      row.received_bytes += s->second.bytes;
  }
  row.framing_bytes = frame_header_bytes * row.frames;
  find_difference(row);
  return row;
}

Audit::Link link_row(const ByteCounts& c, int from, int to) {
  const auto ledger = c.links.find({from, to});
  Audit::Link link{from, to, ledger == c.links.end() ? 0 : ledger->second, {}};
  for (const ByteCounts::Part& part : c.parts) {
    const int a = part.owner(from), b = part.owner(to);
    auto carrier = std::ranges::find_if(
        link.carriers, [&](const Audit::Carrier& x) { return x.from_rank == a && x.to_rank == b; });
    if (carrier == link.carriers.end())
      carrier = link.carriers.insert(carrier, Audit::Carrier{a, b, 0, 0});
    if (const auto sent = part.sent.find({from, b}); sent != part.sent.end() && a != b) {
      carrier->frames += sent->second.frames;
      carrier->bytes += sent->second.bytes;
    }
  }
  return link;
}

json agent_json(const Audit::Agent& a) {
  return {{"messages", a.messages},
          {"payload_bytes", a.payload_bytes},
          {"payload_bytes_to_carry", a.to_carry},
          {"frames", a.frames},
          {"bytes", a.bytes},
          {"received_bytes", a.received_bytes},
          {"framing_bytes", a.framing_bytes},
          {"difference", a.difference}};
}

}  // namespace

Audit audit_ledger(const json& summary) {
  Audit audit{.counts = read_byte_counts(summary)};
  const ByteCounts& c = audit.counts;
  for (int i = 0; i < c.graph.agents(); ++i) {
    audit.agents.push_back(agent_row(c, i));
    add(audit.total, audit.agents.back());
    for (const int j : c.graph.neighbours(i)) audit.links.push_back(link_row(c, i, j));
  }
  find_difference(audit.total);
  Checks(c, audit.findings)();
  return audit;
}

json to_json(const Audit& audit) {
  json agents = json::array(), links = json::array();
  for (std::size_t i = 0; i < audit.agents.size(); ++i) {
    agents.push_back(agent_json(audit.agents[i]));
    agents.back()["agent"] = i;
  }
  for (const Audit::Link& link : audit.links) {
    json carriers = json::array();
    for (const Audit::Carrier& c : link.carriers) {
      carriers.push_back({{"frames", c.frames}, {"bytes", c.bytes}});
      if (c.from_rank != c.to_rank) carriers.back()["ranks"] = {c.from_rank, c.to_rank};
    }
    links.push_back({{"from", link.from},
                     {"to", link.to},
                     {"payload_bytes", link.payload_bytes},
                     {"carriers", std::move(carriers)}});
  }
  return {{"agrees", audit.findings.empty()},
          {"transport", audit.counts.kind},
          {"frame_header_bytes", frame_header_bytes},
          {"agents", std::move(agents)},
          {"links", std::move(links)},
          {"total", agent_json(audit.total)},
          {"findings", audit.findings}};
}

}  // namespace ticopd
