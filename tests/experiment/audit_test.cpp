// The audit compares the byte ledger with the bytes that the transport carried. They agree, or the
// audit names the first number that differs.
#include "ticopd/experiment/audit.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiment/counted_run.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using counted_run::Life;
using counted_run::summary_of;
using nlohmann::json;

json ring_of_6_on_3_ranks() {
  return summary_of(ring(6), {{{0, 2, 4}, 10}});
}

// The first finding of the audit; empty if there is none.
std::string first_finding(const json& summary) {
  try {
    const Audit audit = audit_ledger(summary);
    return audit.findings.empty() ? "" : audit.findings.front();
  } catch (const FormatError& e) {
    return e.what();
  }
}

void expect_finding(const json& summary, const std::string& text) {
  const std::string found = first_finding(summary);
  EXPECT_NE(found.find(text), std::string::npos) << "\"" << found << "\" lacks \"" << text << "\"";
}

json changed(json summary, const char* pointer, const json& value) {
  summary.at(json::json_pointer(pointer)) = value;
  return summary;
}

TEST(Audit, AgreesIfEveryByteIsPayloadOrFraming) {
  const Audit audit = audit_ledger(ring_of_6_on_3_ranks());
  EXPECT_EQ(audit.findings, std::vector<std::string>{});
  ASSERT_EQ(audit.agents.size(), 6u);
  EXPECT_EQ(audit.agents[1].messages, 10u);
  EXPECT_EQ(audit.agents[1].payload_bytes, 1010u);
  EXPECT_EQ(audit.agents[1].frames, 10u);  // to rank 1; neighbour 0 is on the same rank
  EXPECT_EQ(audit.agents[1].bytes, 1010u + 560u);
  EXPECT_EQ(audit.agents[1].framing_bytes, 560u);
  EXPECT_EQ(audit.agents[1].received_bytes, 1570u);
  EXPECT_EQ(audit.agents[1].difference, 0);
  EXPECT_EQ(audit.total.frames, 60u);
  EXPECT_EQ(audit.total.payload_bytes, 10u * (600 + 15));
  ASSERT_EQ(audit.links.size(), 12u);
  EXPECT_EQ(audit.links[0].to, 1);  // agent 0 to agent 1, on the same rank
  EXPECT_EQ(audit.links[0].carriers.at(0).frames, 0u);
  EXPECT_EQ(audit.links[1].to, 5);
  EXPECT_EQ(audit.links[1].carriers.at(0).to_rank, 2);
  EXPECT_EQ(audit.links[1].carriers.at(0).bytes, 1560u);
}

TEST(Audit, CountsOneFramePerRankForAllItsNeighbours) {
  const Audit audit = audit_ledger(summary_of(complete(5), {{{0, 2}, 3}}));
  EXPECT_EQ(audit.findings, std::vector<std::string>{});
  EXPECT_EQ(audit.agents[0].frames, 3u);  // agents 2, 3 and 4 are on one rank
  EXPECT_EQ(audit.agents[0].to_carry, 300u);
}

TEST(Audit, AgreesForEveryGraphAndAnyRanksInEachPart) {
  for (const Graph& graph : {ring(6), star(6), complete(6), path(6)})
    for (const Life& a :
         {Life{{0}, 4}, Life{{0, 1}, 4}, Life{{0, 2, 3}, 4}, Life{{0, 1, 2, 3, 4, 5}, 4}})
      EXPECT_EQ(first_finding(summary_of(graph, {{{0, 3}, 7}, a, {{0, 1, 4}, 0}})), "");
  const Audit audit = audit_ledger(summary_of(ring(6), {{{0, 2, 4}, 7}, {{0, 3}, 5}}));
  EXPECT_EQ(audit.findings, std::vector<std::string>{});
  ASSERT_EQ(audit.links[3].from, 1);  // to agent 2: first over the wire, then in memory
  ASSERT_EQ(audit.links[3].carriers.size(), 2u);
  EXPECT_EQ(audit.links[3].carriers[0].frames, 7u);
  EXPECT_EQ(audit.links[3].carriers[1].frames, 0u);
}

TEST(Audit, RunInOneProcessCarriesNoBytes) {
  json summary = summary_of(ring(6), {{{0}, 10}}, "none");
  for (const bool with_ranks : {true, false}) {
    if (!with_ranks) summary["transport"].erase("ranks");
    const Audit audit = audit_ledger(summary);
    EXPECT_EQ(audit.findings, std::vector<std::string>{});
    EXPECT_FALSE(audit.anything_travelled());
    EXPECT_EQ(audit.agents[2].payload_bytes, 1020u);
    EXPECT_EQ(audit.agents[2].difference, 0);
  }
  expect_finding(changed(ring_of_6_on_3_ranks(), "/transport/kind", "none"), "no transport");
}

// Collects the JSON pointer of every number that the audit checks.
void collect(const json& value, const std::string& pointer, std::vector<std::string>& all) {
  if (value.is_number_integer()) all.push_back(pointer);
  if (value.is_structured())
    for (const auto& [key, inner] : value.items())
      if (key != "control" && key != "paper_bits") collect(inner, pointer + "/" + key, all);
}

TEST(Audit, FindsEveryNumberThatIsOffByOne) {
  const json good = summary_of(ring(6), {{{0, 2, 4}, 7}, {{0, 3}, 5}});
  ASSERT_EQ(first_finding(good), "");
  std::vector<std::string> pointers;
  collect(good["ledger"], "/ledger", pointers);
  collect(good["transport"], "/transport", pointers);
  collect(good["edges"], "/edges", pointers);
  ASSERT_GT(pointers.size(), 150u);
  for (const std::string& pointer : pointers)
    for (const int by : {-1, 1}) {
      json bad = good;
      json& number = bad[json::json_pointer(pointer)];
      number = number.get<std::int64_t>() + by;
      EXPECT_NE(first_finding(bad), "") << pointer << " " << by;
    }
}

TEST(Audit, FindsEveryMissingOrExtraEntry) {
  const json good = summary_of(ring(6), {{{0, 2, 4}, 7}, {{0, 3}, 5}});
  for (const char* list :
       {"/ledger/agents", "/ledger/links", "/transport/ranks", "/transport/parts", "/edges",
        "/transport/parts/0/agents", "/transport/parts/0/sent", "/transport/parts/0/received",
        "/transport/parts/1/sent", "/transport/parts/1/received", "/transport/parts/1/first"})
    for (std::size_t i = 0; i < good[json::json_pointer(list)].size(); ++i) {
      json missing = good, twice = good;
      missing[json::json_pointer(list)].erase(i);
      EXPECT_NE(first_finding(missing), "") << list << " " << i;
      json& entries = twice[json::json_pointer(list)];
      entries.push_back(json(entries[i]));
      EXPECT_NE(first_finding(twice), "") << list << " " << i;
    }
  // Complete and plausible entries, but for a rank without a neighbour, or for the agent's own
  // rank.
  for (const int rank : {1, 0}) {
    json extra = ring_of_6_on_3_ranks();
    for (const char* list : {"sent", "received"})
      extra["transport"]["parts"][0][list].push_back(
          {{"agent", 0}, {"rank", rank}, {"frames", 0u}, {"bytes", 0u}});
    EXPECT_EQ(audit_ledger(extra).findings.size(), 2u);
    expect_finding(extra, "part 0, agent 0, rank " + std::to_string(rank));
  }
  json link = ring_of_6_on_3_ranks();
  link["ledger"]["links"].push_back({{"from", 0u}, {"to", 3u}, {"payload_bytes", 1000u}});
  expect_finding(link, "link 0 -> 3: has 1000 payload bytes, but no edge");
}

TEST(Audit, FindingNamesPartAgentRankAndBothNumbers) {
  const json good = ring_of_6_on_3_ranks();
  expect_finding(changed(good, "/transport/parts/0/sent/1/frames", 11u),
                 "part 0, agent 1, rank 1: frames sent 11, messages made by the codec 10");
  expect_finding(
      changed(good, "/transport/parts/0/sent/1/bytes", 1571u),
      "part 0, agent 1, rank 1: bytes sent 1571, payload and 56 bytes of framing a frame "
      "make 1570");
  expect_finding(changed(good, "/transport/parts/0/received/1/bytes", 1569u),
                 "part 0, agent 1, rank 1: bytes received 1569, sent 1570");
  expect_finding(changed(good, "/ledger/agents/2/payload_bytes", 1021u),
                 "agent 2: payload bytes in the ledger 1021, in all parts together 1020");
  // Extra framing bytes of a rank must not count as payload, even if the totals add up.
  json moved = changed(good, "/transport/ranks/2/sent/payload_bytes", 10 * 209u - 1);
  expect_finding(changed(moved, "/transport/ranks/2/sent/framing_bytes", 20 * 56u + 1),
                 "part 0, rank 2: framing bytes sent, by the rank, 1121");
}

TEST(Audit, RejectsValuesThatAreNotCounts) {
  const json good = ring_of_6_on_3_ranks();
  std::vector<std::string> pointers;
  collect(good, "", pointers);
  const std::vector<json> bad = {-1,   1.5,        "10", nullptr, json::array(), json::object(),
                                 true, 1ull << 54, 1e300};
  for (const std::string& pointer : pointers)
    for (const json& value : bad) {
      const json summary = changed(good, pointer.c_str(), value);
      try {
        (void)audit_ledger(summary);
        ADD_FAILURE() << pointer << " = " << value << " was taken";
      } catch (const FormatError& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with("run.json: ")) << e.what();
      }
    }
  EXPECT_THROW(audit_ledger(changed(good, "/transport/kind", "pigeons")), FormatError);
  EXPECT_THROW(audit_ledger(changed(good, "/transport/kind", 3)), FormatError);
  EXPECT_THROW(audit_ledger(changed(good, "/transport/parts", json::array())), FormatError);
  for (const char* gone : {"/edges", "/ledger", "/transport/parts", "/transport/kind",
                           "/transport/ranks", "/ledger/links", "/iterations"}) {
    const json summary = json(good).patch({{{"op", "remove"}, {"path", gone}}});
    EXPECT_THROW(audit_ledger(summary), FormatError) << gone;
  }
  EXPECT_THROW(audit_ledger(json::array()), FormatError);
}

TEST(Audit, TellsWhyARunCannotBeAudited) {
  json summary = ring_of_6_on_3_ranks();
  summary.erase("transport");
  expect_finding(summary, "run.json: was made by a version");
  summary["status"] = "diverged";
  expect_finding(summary, "run.json: the run diverged");
}

TEST(Audit, JsonHoldsTheTablesAndTheFindings) {
  const json good = to_json(audit_ledger(ring_of_6_on_3_ranks()));
  EXPECT_EQ(good["agrees"], true);
  EXPECT_EQ(good["total"]["framing_bytes"], 60 * 56);
  EXPECT_EQ(good["agents"][1]["bytes"], 1570);
  EXPECT_EQ(good["links"][1]["carriers"][0]["ranks"], json({0, 2}));
  const json bad = to_json(
      audit_ledger(changed(ring_of_6_on_3_ranks(), "/transport/parts/0/sent/1/bytes", 1571u)));
  EXPECT_EQ(bad["agrees"], false);
  EXPECT_EQ(bad["agents"][1]["difference"], 1);
  EXPECT_GE(bad["findings"].size(), 1u);
}

}  // namespace
}  // namespace ticopd
