#include "ticopd/run/traffic_record.hpp"

#include <unistd.h>

#include <array>
#include <string>

#include "ticopd/run/machine.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/collective.hpp"
#include "ticopd/transport/frame.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// `rank` is always the rank where the frames arrive: the peer for sent frames, this rank for
// received ones. So the audit can compare the two lists entry by entry.
json frames_json(const Traffic::ByAgent& frames, int at_rank, bool peer_is_the_end) {
  json all = json::array();
  for (const auto& [who, count] : frames)
    all.push_back({{"agent", who.first},
                   {"rank", peer_is_the_end ? who.second : at_rank},
                   {"frames", count.frames},
                   {"bytes", count.bytes}});
  return all;
}

json sum_json(const Traffic::ByAgent& frames) {
  Traffic::Count sum;
  for (const auto& [who, count] : frames) sum += count;
  const std::uint64_t framing = sum.frames * frame_header_bytes;
  return {{"frames", sum.frames},
          {"payload_bytes", sum.bytes > framing ? sum.bytes - framing : 0},
          {"framing_bytes", framing}};
}

std::string host_name(const Transport& transport) {
  if (const auto* processes = dynamic_cast<const Processes*>(&transport))
    return processes->host(transport.rank());
  std::array<char, 65> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

// The messages and bytes that an agent sent over each of its links since `then`. Null if every link
// carried everything, which is the usual case and needs no list.
json links_json(const Ledger::Agent& now, const Ledger::Agent& then, const json& whole) {
  json links = json::array();
  bool apart = false;
  for (std::size_t k = 0; k < now.link_bytes.size(); ++k) {
    links.push_back(
        {now.link_messages[k] - then.link_messages[k], now.link_bytes[k] - then.link_bytes[k]});
    apart =
        apart || links.back()[0] != whole["messages"] || links.back()[1] != whole["payload_bytes"];
  }
  return apart ? links : json();
}

void append(json& to, json from) {
  for (json& item : from) to.push_back(std::move(item));
}

}  // namespace

std::vector<json> all_gather_json(Transport& transport, const json& mine) {
  const std::string text = mine.dump();
  std::vector<json> all;
  for (const Bytes& part :
       all_gather(transport, channel_control, to_bytes<char>(std::span(text)))) {
    const std::vector<char> chars = from_bytes<char>(part);
    all.push_back(parse_json({chars.data(), chars.size()}));
    if (all.back().is_discarded()) throw FormatError("a control message does not parse");
  }
  return all;
}

template <class T>
void TrafficRecord::begin(AnyNetwork<T>& net, json before) {
  before_ = std::move(before);
  from_round_ = net.round();
  ledger_ = net.ledger().agents;
  net.surroundings().transport.traffic() = {};
}

template <class T>
json TrafficRecord::parts(AnyNetwork<T>& net) const {
  Transport& transport = net.surroundings().transport;
  const Traffic traffic = transport.traffic();  // copied before the gather below adds to it
  json agents = json::array();
  for (std::size_t row = 0; row < net.placement().rows(); ++row) {
    const Ledger::Agent &now = net.ledger().agents[row], &then = ledger_[row];
    agents.push_back({{"agent", net.placement().agent(row)},
                      {"messages", now.messages - then.messages},
                      {"payload_bytes", now.payload_bytes - then.payload_bytes}});
    if (json links = links_json(now, then, agents.back()); !links.is_null())
      agents.back()["links"] = std::move(links);
  }
  const std::vector<json> all = all_gather_json(
      transport, {{"first", net.placement().first()},
                  {"agents", std::move(agents)},
                  {"sent", frames_json(traffic.sent, transport.rank(), true)},
                  {"received", frames_json(traffic.received, transport.rank(), false)}});
  json part{{"ranks", transport.size()}, {"from_round", from_round_}, {"to_round", net.round()},
            {"device", device_},         {"first", json::array()},    {"agents", json::array()},
            {"sent", json::array()},     {"received", json::array()}};
  part.update(machine_json());  // what must be equal for equal digests
  for (const json& rank : all) {
    part["first"].push_back(rank.at("first"));
    for (const char* list : {"agents", "sent", "received"}) append(part[list], rank.at(list));
  }
  json parts = before_;
  parts.push_back(std::move(part));
  return parts;
}

template <class T>
json TrafficRecord::report(AnyNetwork<T>& net) const {
  Transport& transport = net.surroundings().transport;
  const Traffic traffic = transport.traffic();
  const Overlap overlap = net.overlap();
  const int first = net.placement().first();
  const json mine{
      {"rank", transport.rank()},
      {"host", host_name(transport)},
      {"agents", {first, first + static_cast<int>(net.placement().rows()) - 1}},
      {"threads", net.surroundings().pool.threads()},
      {"sent", sum_json(traffic.sent)},
      {"received", sum_json(traffic.received)},
      {"control",
       {{"sent_bytes", traffic.control_sent.bytes},
        {"received_bytes", traffic.control_received.bytes}}},
      {"waiting_s", overlap.waiting},
      {"in_flight_s", overlap.in_flight},
      {"hidden", overlap.in_flight > 0 ? json(overlap.hidden / overlap.in_flight) : json()}};
  const auto* processes = dynamic_cast<const Processes*>(&transport);
  json report{{"kind", processes              ? processes->kind()
                       : transport.size() > 1 ? "threads"
                                              : "none"},
              {"parts", parts(net)},
              {"ranks", all_gather_json(transport, mine)}};
  if (processes) report["library"] = processes->library();
  if (net.surroundings().links.varies()) report["by_link"] = true;
  return report;
}

json TrafficRecord::part_of(const json& ledger, std::uint32_t rounds) {
  json agents = json::array();
  for (std::size_t i = 0; i < ledger.size(); ++i)
    agents.push_back({{"agent", i},
                      {"messages", ledger[i].at("messages")},
                      {"payload_bytes", ledger[i].at("payload_bytes")}});
  return json::array({{{"ranks", 1},
                       {"from_round", 0},
                       {"to_round", rounds},
                       {"first", {0}},
                       {"agents", std::move(agents)},
                       {"sent", json::array()},
                       {"received", json::array()}}});
}

template void TrafficRecord::begin(AnyNetwork<float>&, json);
template void TrafficRecord::begin(AnyNetwork<double>&, json);
template json TrafficRecord::parts(AnyNetwork<float>&) const;
template json TrafficRecord::parts(AnyNetwork<double>&) const;
template json TrafficRecord::report(AnyNetwork<float>&) const;
template json TrafficRecord::report(AnyNetwork<double>&) const;

}  // namespace ticopd
