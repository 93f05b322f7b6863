#include "ticopd/run/checkpoint_notes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/run/checkpoint.hpp"
#include "ticopd/run/traffic_record.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

json to_json(const Ledger::Agent& a) {
  return {{"messages", a.messages},           {"payload_bytes", a.payload_bytes},
          {"paper_bits", a.paper_bits},       {"saturated", a.saturated},
          {"link_messages", a.link_messages}, {"link_bytes", a.link_bytes}};
}

std::string round_of(const json& notes) {
  return notes.is_object() && notes.contains("round") ? "round " + notes["round"].get<std::string>()
                                                      : "nothing";
}

}  // namespace

Ledger::Agent ledger_agent(const json& j, std::size_t links) {
  Ledger::Agent a;
  a.messages = j.at("messages");
  a.payload_bytes = j.at("payload_bytes");
  a.paper_bits = j.at("paper_bits");
  a.saturated = j.at("saturated");
  a.link_messages = j.at("link_messages").get<std::vector<std::uint64_t>>();
  a.link_bytes = j.at("link_bytes").get<std::vector<std::uint64_t>>();
  // The ledger is indexed by link from here on, without further checks.
  if (a.link_messages.size() != links || a.link_bytes.size() != links)
    throw FormatError(fmt::format("the ledger is of another graph: {} links and {} here",
                                  a.link_bytes.size(), links));
  return a;
}

template <class T>
json hosted_ledger(AnyNetwork<T>& net) {
  json mine = json::array();
  for (const Ledger::Agent& a : net.ledger().agents) mine.push_back(to_json(a));
  return mine;
}

template json hosted_ledger(AnyNetwork<float>&);
template json hosted_ledger(AnyNetwork<double>&);

template <class T>
json gather_ledger(AnyNetwork<T>& net) {
  const std::string text = hosted_ledger(net).dump();
  json all = json::array();
  for (const Bytes& part : all_gather(net.surroundings().transport, channel_checkpoint,
                                      to_bytes<char>(std::span(text)))) {
    const std::vector<char> chars = from_bytes<char>(part);
    json agents = parse_json({chars.data(), chars.size()});
    if (!agents.is_array()) throw FormatError("a control message does not parse");
    for (auto& a : agents) all.push_back(std::move(a));
  }
  return all;
}

template json gather_ledger(AnyNetwork<float>&);
template json gather_ledger(AnyNetwork<double>&);

void refuse_other_checkpoint(const std::filesystem::path& checkpoint, Transport& transport) {
  if (transport.size() == 1) return;
  json mine;  // null: there is no checkpoint
  if (std::filesystem::exists(checkpoint)) {
    const CheckpointNotes notes = read_checkpoint_notes(checkpoint);
    for (const char* key : {"round", "check"})
      if (notes.contains(key)) mine[key] = notes.at(key);
  }
  const std::vector<json> all = all_gather_json(transport, mine);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw DiskError(fmt::format(
          "{}: rank {} finds {}, rank 0 finds {}: all ranks need one folder, on a shared file "
          "system",
          checkpoint.string(), r, round_of(all[r]), round_of(all[0])));
}

}  // namespace ticopd
