// The files of a run: metrics with exact bit counts, the summary with its ledger, the final models
// and the checkpoint.
#include <cmath>

#include "cli/program.hpp"
#include "places.hpp"
#include "ticopd/data/npy.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
constexpr double d = 28;  // of small.toml: 4 classes x (6 features + bias)
constexpr double rounds = 30;

enum Column {
  iteration,
  bits_paper,
  bits_payload,
  bits_link,
  loss_max,
  grad_norm2_max,
  consensus,
  accuracy_min
};

class RunFolderFiles : public CommandLine {
 protected:
  double cell(const std::string& run, std::size_t row, Column column) const {
    return std::stod(metrics(run).at(row).at(column));
  }
  double last(const std::string& run, Column column) const {
    return std::stod(metrics(run).back().at(column));
  }
};

TEST_F(RunFolderFiles, RunWritesExactlyFiveFiles) {
  run("out");
  std::vector<std::string> names;
  for (const auto& [name, bytes] : snapshot("out")) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"out/agents.csv", "out/checkpoint.safetensors",
                                             "out/final.npy", "out/metrics.csv",
                                             "out/run.json"}));
}

TEST_F(RunFolderFiles, RunWithoutAFolderWritesBelowRuns) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(ticopd({"run", "small.toml", "--quiet"}).code, 0);  // two runs within one second
  int folders = 0;
  for (const auto& e : std::filesystem::directory_iterator(folder_ / "runs")) {
    EXPECT_TRUE(e.path().filename().string().starts_with("small-")) << e.path();
    ++folders;
  }
  EXPECT_EQ(folders, 2);
}

TEST_F(RunFolderFiles, RunNameNeverLeadsOutOfRuns) {
  const std::map<std::string, std::string> folders = {{"../../x", "run..-..-x-"},
                                                      {"/tmp/ticopd_x", "tmp-ticopd_x-"},
                                                      {"", "run-"},
                                                      {std::string(300, 'a'), std::string(60, 'a')},
                                                      {"Two words", "Two words-"}};
  for (const auto& [name, folder] : folders) {
    EXPECT_EQ(ticopd({"run", "small.toml", "--quiet", "--set", "name=\"" + name + "\""}).code, 0);
    std::vector<std::filesystem::path> made;
    for (const auto& e : std::filesystem::directory_iterator(folder_ / "runs"))
      made.push_back(e.path().filename());
    ASSERT_EQ(made.size(), 1u) << name;
    EXPECT_TRUE(made[0].string().starts_with(folder)) << made[0];
    EXPECT_EQ(summary("runs/" + made[0].string())["config"]["name"], name);
    std::filesystem::remove_all(folder_ / "runs");
  }
}

TEST_F(RunFolderFiles, ConfigFromAPipeGivesTheSameRun) {
  run("out");
  const std::string command = "cd " + folder_.string() + " && cat small.toml | " +
                              places::binary() +
                              " run /dev/stdin --out piped --quiet > out.txt 2> err.txt";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_text(folder_ / "err.txt");
  EXPECT_EQ(summary("piped")["digest"], summary("out")["digest"]);
  EXPECT_EQ(summary("piped")["config"]["name"], "run");
}

TEST_F(RunFolderFiles, MetricsHaveTheContractsHeaderAndRoundZero) {
  run("out");
  const auto lines = lines_of(read_text(folder_ / "out/metrics.csv"));
  EXPECT_EQ(lines.at(0),
            "iteration,bits_paper,bits_payload,bits_link,loss_max,grad_norm2_max,consensus,"
            "accuracy_min,loss_mean,"
            "grad_norm2_mean,accuracy_mean,surrogate_error,dual_sum,seconds");
  for (const std::string& line : lines)
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 13) << line;
  EXPECT_TRUE(lines.at(1).starts_with("0,0,0,0,")) << lines[1];
  EXPECT_TRUE(lines.at(2).starts_with("1,")) << lines[2];
  EXPECT_TRUE(lines.back().starts_with("30,")) << lines.back();
  EXPECT_EQ(cell("out", 1, consensus), 0);  // all agents start at the same model
  EXPECT_LT(last("out", loss_max), cell("out", 1, loss_max));
}

TEST_F(RunFolderFiles, MetricsLeaveCellsEmptyForQuantitiesThatDoNotExist) {
  write("small.toml",
        "iterations = 5\n[problem]\nobjective = \"least_squares\"\ndata = \"synthetic\"\n"
        "partition = \"iid\"\n[graph]\nagents = 4\n[algorithm]\nname = \"dgd\"\neta = 0.01\n");
  run("out");
  for (const std::string& line : lines_of(read_text(folder_ / "out/metrics.csv"))) {
    if (line.starts_with("iteration")) continue;
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string c; std::getline(in, c, ',');) cells.push_back(c);
    EXPECT_EQ(cells.at(7), "") << "accuracy of a regression: " << line;
    EXPECT_EQ(cells.at(12), "") << "dual of DGD: " << line;
    EXPECT_NE(cells.at(4), "");
  }
}

TEST_F(RunFolderFiles, SummaryHoldsEverythingAScriptNeeds) {
  run("out");
  const json j = summary("out");
  for (const char* key :
       {"config", "digest", "ledger", "version", "instruction_set", "kernel", "seconds"})
    EXPECT_TRUE(j.contains(key)) << key;
  EXPECT_EQ(j["status"], "finished");
  EXPECT_EQ(j["iterations"], 30);
  EXPECT_EQ(j["config"]["graph"]["agents"], 4);
  EXPECT_EQ(j["config"]["graph"]["weights"], "metropolis");  // defaults are resolved
  EXPECT_EQ(j["digest"].get<std::string>().find_first_not_of("0123456789abcdef"),
            std::string::npos);
  EXPECT_EQ(j["digest"].get<std::string>().size(), 32u);
  for (const char* phase : {"total", "gradient", "exchange", "update", "metrics"})
    EXPECT_GE(j["seconds"][phase].get<double>(), 0) << phase;
}

TEST_F(RunFolderFiles, FinalModelsHaveThePrecisionOfTheRun) {
  run("one");
  run("two", {"--set", "precision=double"});
  const auto single = read_npy<double>(folder_ / "one/final.npy");
  const auto twice = read_npy<double>(folder_ / "two/final.npy");
  EXPECT_EQ(single.descr, "<f4");
  EXPECT_EQ(twice.descr, "<f8");
  EXPECT_EQ(single.shape, (std::vector<std::size_t>{4, 28}));
  EXPECT_EQ(twice.shape, (std::vector<std::size_t>{4, 28}));
  for (std::size_t k = 0; k < single.data.size(); ++k)
    EXPECT_NEAR(single.data[k], twice.data[k], 0.05);
}

TEST_F(RunFolderFiles, CheckpointParsesAsSafetensors) {
  run("out");
  const std::string bytes = read_text(folder_ / "out/checkpoint.safetensors");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  ASSERT_LT(length, bytes.size());
  const json header = json::parse(bytes.substr(8, length));
  std::size_t end = 0;
  for (const auto& [name, tensor] : header.items()) {
    if (name == "__metadata__") continue;
    EXPECT_EQ(tensor["dtype"], "F32");
    EXPECT_EQ(tensor["shape"], json({4, 28}));
    EXPECT_EQ(
        tensor["data_offsets"][1].get<std::size_t>() - tensor["data_offsets"][0].get<std::size_t>(),
        4 * 28 * 4u);
    end = std::max(end, tensor["data_offsets"][1].get<std::size_t>());
  }
  EXPECT_EQ(8 + length + end, bytes.size());
  EXPECT_EQ(header["__metadata__"]["round"], "30");
  for (const char* name : {"x", "lambda", "xhat"}) EXPECT_TRUE(header.contains(name)) << name;
}

// The size of one message by the formulas of the contract: bytes sent, and bits as the paper
// counts.
struct Message {
  Arguments codec;
  double payload_bytes, paper_bits;
};

TEST_F(RunFolderFiles, MetricsCountBitsExactly) {
  const Message messages[] = {
      {{"codec.bits=8"}, 4 + 28 + 4, d * std::log2(255) + d + 32},
      {{"codec.bits=3"}, 4 + 11 + 4, d * std::log2(7) + d + 32},
      {{"codec.bits=4", "codec.bucket=10"}, 3 * 4 + 14 + 4, d * std::log2(15) + d + 3 * 32},
      {{"codec.kind=identity"}, 4 * d, 32 * d},
      {{"codec.kind=sign"}, 4 + 4, d + 32},
      {{"codec.kind=top_k", "codec.k=5"}, 5 * 4 + 4, 5 * (32 + 5)},  // 5 x 5 index bits in 4 bytes
      {{"codec.kind=rand_k", "codec.k=5"}, 5 * 4, 32 * 5 + 64},
  };
  int number = 0;
  for (const Message& m : messages) {
    Arguments more;
    for (const std::string& s : m.codec) more.insert(more.end(), {"--set", s});
    const std::string name = "out" + std::to_string(number++);
    run(name, more);
    EXPECT_EQ(last(name, bits_payload), 8 * m.payload_bytes * rounds) << m.codec[0];
    EXPECT_EQ(last(name, bits_link), 2 * 8 * m.payload_bytes * rounds)
        << m.codec[0];  // a ring: two neighbours
    EXPECT_NEAR(last(name, bits_paper), m.paper_bits * rounds, 1e-6) << m.codec[0];
    EXPECT_EQ(cell(name, 2, bits_payload), 8 * m.payload_bytes) << "round 1 of " << m.codec[0];
  }
}

TEST_F(RunFolderFiles, MetricsCountTwoMessagesPerRoundForBeer) {
  std::string toml = small_problem.substr(0, small_problem.find("[algorithm]"));
  write("small.toml", toml + "[algorithm]\nname = \"beer\"\neta = 0.05\ngamma = 0.2\n");
  run("out");
  EXPECT_EQ(last("out", bits_payload), 2 * 8 * 36 * rounds);
  EXPECT_NEAR(last("out", bits_paper), 2 * (d * std::log2(255) + d + 32) * rounds, 1e-6);
}

TEST_F(RunFolderFiles, LedgerAddsUp) {
  run("out", {"--set", "graph.kind=star"});
  const json ledger = summary("out")["ledger"];
  double payload = 0, links = 0, paper = 0;
  for (const json& a : ledger["agents"]) {
    EXPECT_EQ(a["messages"], 30);
    EXPECT_EQ(a["payload_bytes"], 30 * 36);
    payload += a["payload_bytes"].get<double>();
    paper += a["paper_bits"].get<double>();
  }
  for (const json& l : ledger["links"]) {
    EXPECT_TRUE(l["from"] == 0 || l["to"] == 0) << l;
    links += l["payload_bytes"].get<double>();
  }
  EXPECT_EQ(ledger["links"].size(), 6u);
  EXPECT_EQ(ledger["payload_bytes"].get<double>(), payload);
  EXPECT_EQ(last("out", bits_payload), 8 * payload / 4);
  EXPECT_EQ(last("out", bits_link), 8 * links / 4);
  EXPECT_NEAR(last("out", bits_paper), paper / 4, 1e-6);
}

}  // namespace
}  // namespace ticopd
