// solve() that leaves a run folder.
#include "ticopd/experiment/recording.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "ticopd/algorithms/all.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/report/report.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Pull final : Objective<double> {  // agent i wants every coordinate to be i
  int agents() const override { return 4; }
  std::size_t dimension() const override { return 5; }
  double value(int i, std::span<const double> x) const override {
    double sum = 0;
    for (const double v : x) sum += (v - i) * (v - i) / 2;
    return sum;
  }
  void gradient(int i, std::span<const double> x, std::span<double> g) const override {
    for (std::size_t k = 0; k < x.size(); ++k) g[k] = x[k] - i;
  }
};

struct OwnCodec final : Codec<double> {  // a codec that no table knows
  bool encode(std::span<const double> v, const MessageId&, Bytes& out) const override {
    out = to_bytes<double>(v);
    return true;
  }
  bool decode(std::span<const std::byte> in, const MessageId&, std::span<double> q) const override {
    if (in.size() != payload_bytes(q.size())) return false;
    std::ranges::copy(from_bytes<double>(in), q.begin());
    return true;
  }
  std::size_t payload_bytes(std::size_t d) const override { return 8 * d; }
  double paper_bits(std::size_t d) const override { return 64.0 * static_cast<double>(d); }
  ErrorBound error_bound(std::size_t) const override { return {}; }
};

class RecordedRun : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "ticopd_recording_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  ticopd::Setup<double> setup() const {
    ticopd::Setup<double> s{.graph = ring(4), .objective = std::make_shared<Pull>()};
    s.codec = make_codec<double>({.kind = "qsgd", .bits = 4});
    s.iterations = 60;
    return s;
  }
  fs::path out(const std::string& name = "mine") const { return folder_ / name; }

  fs::path folder_;
  const TiCoPD steps{.alpha = 0.1, .theta = 2, .eta = 0.4};
};

TEST_F(RecordedRun, HasTheFilesAndTheDigestOfTheRun) {
  std::size_t heard = 0;
  ticopd::Setup<double> s = setup();
  s.watch.on_log = [&](const Metrics&) { ++heard; };
  const auto found = solve(steps, s, {.out = out(), .name = "pull", .objective = "four corners"});
  EXPECT_EQ(found.digest, solve(steps, setup()).digest);
  const json j = RunFolder::require_finished(out());
  EXPECT_EQ(j["digest"], found.digest);
  EXPECT_EQ(j["data"], "four corners");
  EXPECT_EQ(j["agents"], 4);
  EXPECT_EQ(j["ledger"]["agents"].size(), 4u);
  EXPECT_GT(heard, 5u);
  std::ifstream csv(out() / "metrics.csv");
  std::size_t lines = 0;
  for (std::string line; std::getline(csv, line);) ++lines;
  EXPECT_EQ(lines, heard + 1);
  const NpyArray<double> rows = read_npy<double>(out() / "final.npy");
  EXPECT_EQ(rows.shape, (std::vector<std::size_t>{4, 5}));
}

TEST_F(RecordedRun, ConfigSaysWhatWasSolved) {
  ticopd::Setup<double> s = setup();
  s.links.drop = 0.25;
  s.seed = 7;
  TiCoPD falling = steps;
  falling.eta = Schedule::inverse_sqrt(0.4, 2);
  solve(falling, s, {.out = out(), .name = "pull"});
  const json config = RunFolder::require_finished(out())["config"];
  EXPECT_EQ(config["name"], "pull");
  EXPECT_EQ(config["seed"], 7);
  EXPECT_EQ(config["precision"], "double");
  EXPECT_EQ(config["problem"]["objective"], "external");
  EXPECT_EQ(config["graph"],
            json({{"kind", "ring"}, {"agents", 4}, {"weights", "metropolis"}, {"drop", 0.25}}));
  EXPECT_EQ(
      config["codec"],
      json({{"kind", "qsgd"}, {"bits", 4}, {"scaled", true}, {"bucket", 0}, {"coding", "fixed"}}));
  EXPECT_EQ(config["algorithm"]["alpha"], 0.1);
  EXPECT_EQ(config["algorithm"]["eta"],
            json({{"schedule", "inverse_sqrt"}, {"c", 0.4}, {"t0", 2.0}}));
}

TEST_F(RecordedRun, NamesAnyGraphAndACodecOfTheProgram) {
  ticopd::Setup<double> s = setup();
  const std::pair<int, int> edges[] = {{0, 1}, {1, 2}, {2, 3}, {0, 2}};
  s.graph = Graph(4, edges);
  s.codec = std::make_shared<OwnCodec>();
  solve(steps, s, {.out = out()});
  const json j = RunFolder::require_finished(out());
  EXPECT_EQ(j["config"]["graph"]["edges"], "0-1 0-2 1-2 2-3");
  EXPECT_EQ(j["config"]["codec"], json({{"kind", "external"}}));
}

TEST_F(RecordedRun, RanksThatAreThreadsGiveTheSameFiles) {
  ticopd::Setup<double> s = setup();
  solve(steps, s, {.out = out("one")});
  s.execution.ranks = 3;
  solve(steps, s, {.out = out("three")});
  EXPECT_EQ(RunFolder::require_finished(out("one"))["digest"],
            RunFolder::require_finished(out("three"))["digest"]);
}

TEST_F(RecordedRun, IsReadByReports) {
  solve(steps, setup(), {.out = out("a"), .name = "first"});
  ticopd::Setup<double> s = setup();
  s.codec = std::make_shared<OwnCodec>();
  s.watch.own.names = {"first_coordinate"};
  s.watch.own.measure = [](const Field<double>& x, int, std::span<double> values) {
    for (std::size_t i = 0; i < x.rows(); ++i) values[i] = x.row(i)[0];
  };
  solve(steps, s, {.out = out("b"), .name = "second"});
  const std::string folders[] = {out("a"), out("b")};
  const Collection read = read_folders(folders);
  ASSERT_EQ(read.runs.size(), 2u);
  EXPECT_EQ(read.runs[0].label, "first");
  EXPECT_EQ(read.runs[0].codec(), "qsgd, 4 bits");
  EXPECT_EQ(read.runs[1].codec(), "external");
  EXPECT_EQ(read.runs[1].own.size(), 3u);
}

TEST_F(RecordedRun, TakesNoFolderThatHoldsFiles) {
  fs::create_directories(out());
  std::ofstream(out() / "thesis.tex") << "x";
  EXPECT_THROW(solve(steps, setup(), {.out = out()}), UsageError);
  EXPECT_THROW(solve(steps, setup(), {}), UsageError);
}

TEST_F(RecordedRun, DivergenceIsOnRecord) {
  TiCoPD far = steps;
  far.eta = 1e9;
  EXPECT_THROW(solve(far, setup(), {.out = out()}), Diverged);
  EXPECT_EQ(RunFolder::require_summary(out())["status"], "diverged");
}

TEST_F(RecordedRun, FailureLeavesNoFolder) {
  ticopd::Setup<double> s = setup();
  s.objective = nullptr;
  EXPECT_ANY_THROW(solve(steps, s, {.out = out()}));
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace ticopd
