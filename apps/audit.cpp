#include "ticopd/experiment/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::app {
namespace {

// Prints a table: each column is as wide as its widest cell, and all cells are right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  template <class... Cells>
  void add(const Cells&... cells) {
    rows_.push_back({fmt::format("{}", cells)...});
  }

  void print() const {
    std::vector<std::size_t> width(rows_.front().size());
    for (const auto& row : rows_)
      for (std::size_t k = 0; k < row.size(); ++k) width[k] = std::max(width[k], row[k].size());
    for (const auto& row : rows_) {
      std::string line;
      for (std::size_t k = 0; k < row.size(); ++k)
        line += fmt::format("  {:>{}}", row[k], width[k]);
      show("{}\n", line);
    }
    show("\n");
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

void print_parts(const Audit& audit) {
  const ByteCounts& c = audit.counts;
  show("transport: {}{}\n", c.kind, c.library.empty() ? "" : ", " + c.library);
  for (const ByteCounts::Part& part : c.parts)
    show("rounds {} to {}: {} rank{}\n", part.from_round, part.to_round, part.ranks(),
         part.ranks() == 1 ? "" : "s");
  if (!audit.anything_travelled())
    show("Nothing left the process: the agents read each other's messages in memory.\n");
  show("\n");
}

void print_agents(const Audit& audit) {
  Table table({"agent", "messages", "payload", "to carry", "frames", "bytes", "framing", "received",
               "difference"});
  const auto add = [&](const std::string& name, const Audit::Agent& a) {
    table.add(name, a.messages, a.payload_bytes, a.to_carry, a.frames, a.bytes, a.framing_bytes,
              a.received_bytes, a.difference);
  };
  for (std::size_t i = 0; i < audit.agents.size(); ++i) add(std::to_string(i), audit.agents[i]);
  add("all", audit.total);
  show(
      "Per agent. The codec counts messages and payload bytes. To carry: the payload, once per\n"
      "other rank that hosts a neighbour. The transport counts frames and bytes; {} bytes of each\n"
      "frame are framing. Received: the bytes that the other ranks took from the transport.\n",
      frame_header_bytes);
  table.print();
}

void print_links(const Audit& audit) {
  Table table({"from", "to", "payload", "carried by", "frames", "bytes"});
  for (const Audit::Link& link : audit.links)
    for (const Audit::Carrier& c : link.carriers)
      table.add(link.from, link.to, link.payload_bytes,
                c.from_rank == c.to_rank ? std::string("memory")
                                         : fmt::format("rank {} -> {}", c.from_rank, c.to_rank),
                c.frames, c.bytes);
  show("Per link. {}\n", audit.counts.by_link ? "Each message is for one neighbour."
                                              : "One frame serves all neighbours on a rank.");
  table.print();
}

void print_ranks(const Audit& audit) {
  Table table({"rank", "host", "agents", "sent", "received", "control sent", "control received"});
  const std::vector<ByteCounts::Rank>& ranks = audit.counts.ranks;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    table.add(r, ranks[r].host, fmt::format("{}-{}", ranks[r].first, ranks[r].last),
              ranks[r].sent.payload_bytes + ranks[r].sent.framing_bytes,
              ranks[r].received.payload_bytes + ranks[r].received.framing_bytes,
              ranks[r].control_sent, ranks[r].control_received);
  show(
      "Per rank, in bytes, last part only. Control bytes carry metrics, digests and checkpoints;\n"
      "the ledger does not count them.\n");
  table.print();
}

void print_findings(const Audit& audit) {
  constexpr std::size_t shown = 20;
  for (std::size_t i = 0; i < std::min(shown, audit.findings.size()); ++i)
    show("{}\n", audit.findings[i]);
  if (audit.findings.size() > shown)
    show("... and {} more; --json shows all of them\n", audit.findings.size() - shown);
  if (audit.findings.empty())
    show("the ledger agrees: {} payload bytes, {} framing bytes ({} a frame), 0 unexplained\n",
         audit.total.payload_bytes, audit.total.framing_bytes, frame_header_bytes);
}

int audit(const std::filesystem::path& folder, bool as_json) {
  const Audit result = audit_ledger(RunFolder::require_summary(folder));
  if (as_json) {
    show_json(to_json(result));
  } else {
    print_parts(result);
    print_agents(result);
    print_links(result);
    if (result.anything_travelled()) print_ranks(result);
    print_findings(result);
  }
  // Throw only after the tables are printed: they show where the counts differ.
  if (!result.findings.empty())
    throw FormatError(fmt::format("{}: the ledger disagrees in {} place{}: {}",
                                  (folder / "run.json").string(), result.findings.size(),
                                  result.findings.size() == 1 ? "" : "s", result.findings.front()));
  return 0;
}

}  // namespace

void add_audit(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "audit", "Compare the bytes that the codec made with the bytes that the transport carried");
  auto folder = std::make_shared<std::filesystem::path>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("DIR", *folder, "A run folder")->required();
  command->add_flag("--json", *as_json, "The tables and findings as JSON on standard output");
  command->footer(
      "Example:\n  ticopd audit runs/mnist_ring10-20260101-120000\n"
      "Exit codes: 0 all bytes are payload or framing, 65 some are not, or run.json is damaged");
  command->callback([=, &action] { action = [=] { return audit(*folder, *as_json); }; });
}

}  // namespace ticopd::app
