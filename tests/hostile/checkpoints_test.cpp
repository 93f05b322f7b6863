// Checkpoints with a right hash and hostile notes, and those of another graph.
#include "hostile/checkpoint_file.hpp"
#include "hostile/hostile.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One change to a valid checkpoint; the header's hash is right.
struct Change {
  std::string name;
  std::function<void(CheckpointFile&)> make;
};

Change note(const std::string& key, const std::string& value) {
  return {key + " = " + value.substr(0, 40), [=](CheckpointFile& c) { c.notes()[key] = value; }};
}
Change ledger(std::string name, std::function<void(json&)> of_agent_1) {
  return {std::move(name),
          [=](CheckpointFile& c) { c.edit("ledger", [&](json& l) { of_agent_1(l[1]); }); }};
}
Change tensor(std::string name, std::string key, json value) {
  return {std::move(name), [=](CheckpointFile& c) { c.header["x"][key] = value; }};
}

class HostileCheckpoint : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    run("out");
    forget_the_end();
  }
  fs::path file() const { return folder_ / "out/checkpoint.safetensors"; }

  // The first changes also over ranks: nobody waits for one that gave up.
  void expect_all_refused(const std::vector<Change>& changes) const {
    const std::string whole = read_text(file());
    int over_ranks = 2;
    for (const Change& change : changes) {
      SCOPED_TRACE(change.name);
      write("out/checkpoint.safetensors", whole);
      CheckpointFile checkpoint(file());
      change.make(checkpoint);
      checkpoint.save();
      Arguments resume{"run", "small.toml", "--out", "out", "--resume"};
      expect_refused(resume, 65, {"checkpoint.safetensors"});
      resume.insert(resume.end(),
                    {"--set", "network.transport=threads", "--set", "network.deadline_s=20"});
      if (over_ranks-- > 0) expect_refused(resume, 65, {"checkpoint.safetensors"});
    }
  }
};

TEST_F(HostileCheckpoint, WithHostileNotesIsRefusedWithoutACrash) {
  expect_all_refused({note("round", "31"),
                      note("seconds", "NaN"),
                      note("round", "-1"),
                      note("round", "4294967296"),
                      note("round", "3e1"),
                      note("seconds", "-1"),
                      note("seconds", "1e999"),
                      note("seconds", "\"x\""),
                      note("first_loss", "NaN"),
                      note("first_loss", "\"x\""),
                      note("logged", "x"),
                      note("digest", "x"),
                      note("digest", "801:00"),
                      note("parts", "{}"),
                      note("parts", "[1]"),
                      note("parts", R"([{"from_round":0,"to_round":30,"device":5}])"),
                      note("bits_before", "[]"),
                      note("config", "[]"),
                      note("config", R"({"codec":null,"graph":5})"),
                      note("inputs", "{"),
                      note("machine", "{"),
                      note("hashes of x", "00")});
}

// The rows of metrics.csv are compared with it before anything else.
TEST_F(HostileCheckpoint, ThatLoggedARoundItNeverMadeIsRefused) {
  CheckpointFile checkpoint(file());
  checkpoint.notes()["logged"] = "31";
  checkpoint.save();
  expect_refused({"run", "small.toml", "--out", "out", "--resume"}, 65, {"round 31"});
}

TEST_F(HostileCheckpoint, WithAHostileLedgerIsRefusedWithoutACrash) {
  expect_all_refused(
      {ledger("long links", [](json& a) { a["link_bytes"] = std::vector<int>(4096, 1); }),
       ledger("short links", [](json& a) { a["link_bytes"] = json::array(); }),
       ledger("long link messages", [](json& a) { a["link_messages"].push_back(1); }),
       ledger("short link messages", [](json& a) { a["link_messages"].erase(0); }),
       ledger("links no list", [](json& a) { a["link_bytes"] = 5; }),
       ledger("negative count", [](json& a) { a["messages"] = -1; }),
       ledger("negative link", [](json& a) { a["link_bytes"][0] = -5; }),
       ledger("half a byte", [](json& a) { a["payload_bytes"] = 1.5; }),
       ledger("huge count", [](json& a) { a["messages"] = 1e300; }),
       ledger("text for a count", [](json& a) { a["saturated"] = "x"; }),
       ledger("no bits", [](json& a) { a.erase("paper_bits"); }),
       ledger("negative bits", [](json& a) { a["paper_bits"] = -1.0; }),
       {"of too few agents",
        [](CheckpointFile& c) { c.edit("ledger", [](json& l) { l.erase(0); }); }},
       {"of too many agents",
        [](CheckpointFile& c) { c.edit("ledger", [](json& l) { l.push_back(l[0]); }); }},
       note("ledger", "[]"),
       note("ledger", "{}"),
       note("ledger", std::string(40000, '[') + std::string(40000, ']'))});
}

TEST_F(HostileCheckpoint, WithHostileTensorsIsRefusedWithoutACrash) {
  expect_all_refused({tensor("another shape", "shape", {4, 29}),
                      tensor("huge shape", "shape", {4611686018427387904u, 28}),
                      tensor("another type", "dtype", "F64"),
                      tensor("behind the end", "data_offsets", {1u << 30, (1u << 30) + 448}),
                      tensor("before the begin", "data_offsets",
                             {18446744073709551608u, 18446744073709551608u + 448}),
                      tensor("ends before it begins", "data_offsets", {448, 0}),
                      tensor("offsets of text", "data_offsets", {"0", "448"}),
                      {"missing", [](CheckpointFile& c) { c.header.erase("x"); }}});
}

class CheckpointOfAnotherGraph : public HostileCheckpoint {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("edges.txt", "0 1\n1 2\n2 3\n3 0\n");
    write("file.toml",
          with(small_problem, "[graph]\n", "[graph]\nkind=\"file\"\npath=\"edges.txt\"\n"));
    ASSERT_EQ(ticopd({"run", "file.toml", "--out", "out", "--quiet"}).code, 0);
    forget_the_end();
    write("edges.txt", "0 1\n1 2\n2 3\n3 0\n0 2\n1 3\n");
  }
  const Arguments resume_file{"run", "file.toml", "--out", "out", "--resume"};
};

// Without fingerprints, as in version 0.1, only the sizes tell.
TEST_F(CheckpointOfAnotherGraph, WithMoreLinksIsRefusedBySize) {
  CheckpointFile checkpoint(file());
  checkpoint.notes().erase("inputs");
  checkpoint.save();
  expect_refused(resume_file, 65, {"checkpoint.safetensors", "graph"});
}

TEST_F(CheckpointOfAnotherGraph, WithFewerLinksIsRefusedBySize) {
  CheckpointFile checkpoint(file());
  checkpoint.notes().erase("inputs");
  checkpoint.save();
  write("edges.txt", "0 1\n1 2\n2 3\n");
  expect_refused(resume_file, 65, {"checkpoint.safetensors", "graph"});
}

}  // namespace
}  // namespace ticopd
