// problem.data with {agent}: a source per agent has the bits of one source cut into blocks, whoever
// reads it; and sources that do not belong together are refused.
#include "ticopd/data/agent_sources.hpp"

#include <algorithm>
#include <numeric>

#include "data/drawn_sets.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

// Blocks of different sizes. The second one has one class alone.
constexpr std::size_t sizes[] = {7, 3, 12, 8};
constexpr std::size_t agents = std::size(sizes);

class AgentSources : public DrawnSets {
 protected:
  // The samples of one set, agent by agent. The second agent has those of one label.
  static std::vector<std::vector<std::uint32_t>> blocks() {
    std::vector<std::uint32_t> order(30);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_partition(order, [](std::uint32_t s) { return label(s) != 1 || s > 12; });
    std::rotate(order.begin() + 7, order.end() - 3, order.end());
    std::vector<std::vector<std::uint32_t>> all;
    auto from = order.begin();
    for (const std::size_t size : sizes) {
      all.emplace_back(from, from + static_cast<std::ptrdiff_t>(size));
      from += static_cast<std::ptrdiff_t>(size);
    }
    return all;
  }

  // text.csv or text.svm line by line into FILE-0, FILE-1, ...
  void cut_text(const std::string& file, const std::string& zip = "") const {
    std::ifstream in(folder_ / file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    const auto parts = blocks();
    for (std::size_t i = 0; i < agents; ++i) {
      std::string text;
      for (const std::uint32_t s : parts[i]) text += lines.at(s);
      const std::string name = file + "-" + std::to_string(i);
      if (zip.empty())
        write(name, text);
      else
        write_gz(name + zip, text);
    }
  }

  template <class V>
  void cut_npy(const std::string& folder) const {
    const auto x = read_npy<V>(folder_ / folder / "X.npy");
    const auto y = read_npy<double>(folder_ / folder / "y.npy");
    const auto parts = blocks();
    for (std::size_t i = 0; i < agents; ++i) {
      std::vector<V> xs;
      std::vector<double> ys;
      for (const std::uint32_t s : parts[i]) {
        const auto row = x.data.begin() + static_cast<std::ptrdiff_t>(s * x.shape[1]);
        xs.insert(xs.end(), row, row + static_cast<std::ptrdiff_t>(x.shape[1]));
        ys.push_back(y.data[s]);
      }
      const auto at = folder_ / (folder + "-" + std::to_string(i));
      std::filesystem::create_directories(at);
      write_npy<V>(at / "X.npy", std::vector<std::size_t>{ys.size(), x.shape[1]}, xs);
      write_npy<double>(at / "y.npy", std::vector<std::size_t>{ys.size()}, ys);
    }
  }

  // Every agent's samples by themselves, by so many processes that tell each other what they have.
  template <class T>
  static std::vector<AgentSamples<T>> read_by(std::size_t processes, const DataOptions& o) {
    std::vector<ShardFacts> told;
    const auto range = [&](std::size_t p) {
      const std::size_t first = p * agents / processes;
      return AgentRange{first, (p + 1) * agents / processes - first};
    };
    struct Enough {};
    for (std::size_t p = 0; p < processes && processes > 1; ++p) try {
        load_agent_sources<T>(o, agents, range(p), [&](const ShardFacts& mine) {
          told.push_back(mine);
          throw Enough();
          return told;
        });
      } catch (const Enough&) {
      }
    std::vector<AgentSamples<T>> all;
    for (std::size_t p = 0; p < processes; ++p)
      all.push_back(
          load_agent_sources<T>(o, agents, range(p), [&](const ShardFacts&) { return told; }));
    return all;
  }

  // `together` is the data in one source, `apart` in one per agent.
  template <class T>
  void expect_equal(DataOptions together, DataOptions apart) const {
    const auto parts = blocks();
    std::vector<std::uint32_t> order;
    for (const auto& part : parts) order.insert(order.end(), part.begin(), part.end());
    const TrainTest<T> whole =
        load<T>(together, [&](std::span<const double>, int) { return order; });
    for (const std::size_t processes : {1, 2, 4}) {
      if (apart.normalize && processes > 1) continue;
      const auto read = read_by<T>(processes, apart);
      std::size_t first = 0;
      for (const AgentSamples<T>& some : read) {
        EXPECT_EQ(some.classes, whole.classes) << apart.data;
        EXPECT_EQ(some.samples, std::vector<std::size_t>(std::begin(sizes), std::end(sizes)));
        ASSERT_EQ(some.test.samples(), whole.test.samples()) << apart.data;
        EXPECT_EQ(some.test.raw(), whole.test.raw());
        EXPECT_EQ(some.test.labels(), whole.test.labels());
        for (const Dataset<T>& shard : some.shards) {
          std::vector<std::uint32_t> block(shard.samples());
          std::iota(block.begin(), block.end(), static_cast<std::uint32_t>(first));
          first += block.size();
          const Dataset<T> want = whole.train.select(block);
          EXPECT_EQ(shard.features(), want.features()) << apart.data;
          EXPECT_EQ(shard.raw(), want.raw()) << apart.data;
          EXPECT_EQ(shard.labels(), want.labels()) << apart.data;
        }
      }
      EXPECT_EQ(first, 30u);
    }
  }

  DataOptions apart(const std::string& data, const std::string& test = "") const {
    DataOptions o = options(data);
    o.features = 0;
    o.test = test;
    return o;
  }

  // shard-0 to shard-3 with these lines.
  DataOptions shards(const std::vector<std::string>& texts, const std::string& format = "csv") {
    for (std::size_t i = 0; i < texts.size(); ++i) write("shard-" + std::to_string(i), texts[i]);
    return apart(format + ":shard-{agent}");
  }

  template <class E>
  static void refused(const DataOptions& o, const std::vector<std::string>& parts,
                      AgentRange hosted = {0, agents}) {
    expect_refused<E>([&] { load_agent_sources<float>(o, agents, hosted); }, parts);
  }
};

TEST_F(AgentSources, HaveTheBitsOfOneSource) {
  draw_text("all.csv", 30, 6, false, false);
  draw_text("all.svm", 30, 6, true, false);
  draw_text("test.csv", 5, 6, false, false);
  draw_text("test.svm", 5, 8, true, false);  // features that no training sample has
  cut_text("all.csv");
  cut_text("all.svm", ".gz");
  DataOptions csv = options("csv:all.csv"), svm = options("libsvm:all.svm");
  csv.test = "test.csv";
  svm.test = "test.svm";
  expect_equal<float>(csv, apart("csv:all.csv-{agent}", "test.csv"));
  expect_equal<double>(csv, apart("csv:all.csv-{agent}", "csv:test.csv"));
  expect_equal<float>(svm, apart("libsvm:all.svm-{agent}.gz", "test.svm"));
  csv.normalize = true;
  DataOptions normalized = apart("csv:all.csv-{agent}", "test.csv");
  normalized.normalize = true;
  expect_equal<float>(csv, normalized);
}

TEST_F(AgentSources, HaveTheBitsOfOneFolder) {
  draw_npy<float>("floats", 30, 6);
  draw_npy<std::uint8_t>("bytes", 30, 6);
  cut_npy<float>("floats");
  cut_npy<std::uint8_t>("bytes");
  expect_equal<float>(options("npy:floats"), apart("npy:floats-{agent}", "floats"));
  expect_equal<double>(options("npy:bytes"), apart("npy:bytes-{agent}", "npy:bytes"));
  draw_idx("idx", 30, 3, false);
  const auto parts = blocks();
  const std::string images = read("idx/train-images-idx3-ubyte");
  const std::string labels = read("idx/train-labels-idx1-ubyte");
  for (std::size_t i = 0; i < agents; ++i) {
    std::string some = images.substr(0, 16), named = labels.substr(0, 8);
    some[7] = named[7] = static_cast<char>(parts[i].size());
    for (const std::uint32_t s : parts[i]) {
      some += images.substr(16 + 9 * s, 9);
      named += labels[8 + s];
    }
    const std::string at = "idx-" + std::to_string(i);
    write(at + "/train-images-idx3-ubyte", some);
    write(at + "/train-labels-idx1-ubyte", named);
  }
  expect_equal<float>(options("idx:idx"), apart("idx:idx-{agent}", "idx"));
}

TEST_F(AgentSources, ASiteKnowsFromItsConfigWhatItCannotRead) {
  DataOptions o = shards({"-1,1,2\n1,3,4\n", "1,5,6\n", "", ""});
  refused<ConfigError>(o, {"problem.features", "missing"}, {1, 1});
  o.features = 2;
  refused<ConfigError>(o, {"problem.labels", "missing"}, {1, 1});
  o.labels = {1, -1};
  refused<ConfigError>(o, {"problem.shard_samples", "missing"}, {1, 1});
  o.shard_samples = {2, 1, 4, 5};
  const auto site = load_agent_sources<float>(o, agents, {1, 1});
  EXPECT_EQ(site.classes, 2);
  EXPECT_EQ(site.shards.front().labels(), std::vector<double>{1});  // -1 is class 0
  EXPECT_EQ(site.samples, (std::vector<std::size_t>{2, 1, 4, 5}));
  o.features = 3;
  refused<FormatError>(o, {"agent 1", "shard-1", "2 features", "problem.features = 3"}, {1, 1});
  o.features = 2;
  o.labels = {-1, 0};
  refused<FormatError>(o, {"agent 1", "shard-1", "sample 0 has label 1", "[-1, 0]"}, {1, 1});
  o.labels = {-1, 1};
  o.shard_samples[1] = 7;
  refused<FormatError>(o, {"agent 1", "shard-1", "1 samples", "7"}, {1, 1});
  o.shard_samples[1] = 1;
  o.shard_samples = {2, 1, 4};
  refused<ConfigError>(o, {"problem.shard_samples", "3 numbers", "4 agents"}, {1, 1});
  o.shard_samples = {};
  o.labels = {1, 2, 1};
  refused<ConfigError>(o, {"problem.labels", "1 twice"}, {1, 1});
  o.labels = {1};
  refused<ConfigError>(o, {"problem.labels", "2 or more"}, {1, 1});
  o.labels = {0, 1};
  o.regression = true;
  refused<ConfigError>(o, {"problem.labels", "targets"}, {1, 1});
}

TEST_F(AgentSources, ThatDoNotFitAreRefusedWithAgentAndFile) {
  const std::string good = "0,1,2\n1,3,4\n";
  const auto with = [&](const std::string& other) { return shards({good, good, good, other}); };
  refused<FormatError>(shards({good, good, good}), {"agent 3", "shard-3", "No such file"});
  refused<FormatError>(with(""), {"agent 3", "shard-3", "holds no samples"});
  refused<FormatError>(with("label,a,b\n"), {"agent 3", "shard-3", "holds no samples"});
  refused<FormatError>(with("0,1,2,3\n"), {"agent 3", "shard-3", "3 features", "shard-0", "2"});
  refused<FormatError>(with("0,1\n"), {"agent 3", "1 features", "agent 0 has 2"});
  refused<FormatError>(with("0,x,1\n"), {"agent 3", "shard-3:1", "`x`"});
  refused<FormatError>(with("0.5,1,1\n"), {"agent 3", "shard-3", "label 0.5", "whole numbers"});
  refused<FormatError>(with("nan,1,1\n"), {"agent 3", "shard-3:1", "nan"});
  refused<FormatError>(shards({"1,2\n", "1,3\n", "1,4\n", "1,5\n"}),
                       {"all samples of all agents", "label 1"});
  DataOptions o = with(good);
  o.test = "test";
  refused<FormatError>(o, {"test", "No such file"});
  write("test", "2,1,1\n");
  refused<FormatError>(o, {"test", "label 2", "no training sample"});
  write("test", "1,1,1,1\n");
  refused<FormatError>(o, {"problem.test", "3 features", "2"});
  o.test = "test-{agent}";
  refused<ConfigError>(o, {"problem.test", "one source for all agents"});
  o = apart("mnist:{agent}");
  refused<ConfigError>(o, {"nothing may follow mnist"});
  o = apart("cvs:shard-{agent}");
  refused<ConfigError>(o, {"did you mean \"csv\""});
  expect_refused<ConfigError>([&] { load<float>(options("csv:shard-{agnt}")); },
                              {"{agnt}", "did you mean \"{agent}\""});
  write("shard-{agnt}", good);  // a file may have that name
  EXPECT_EQ(load<float>(options("csv:shard-{agnt}")).train.samples(), 2u);
}

// The moments that one process measures, said to all, give every process its part of the same bits.
TEST_F(AgentSources, ASiteNormalizesByTheNumbersOfItsConfig) {
  DataOptions o = shards({"0,1,20\n1,4,20\n", "0,-5,20\n", "1,2,20\n", "1,0.5,20\n"});
  write("test", "0,3,40\n");
  o.test = "test";
  o.features = 2;
  o.labels = {0, 1};
  o.shard_samples = {2, 1, 1, 1};
  o.normalize = true;
  EXPECT_EQ(missing_shard_fact(o), "problem.means");
  refused<ConfigError>(o, {"problem.normalize", "samples of all agents", "problem.means"}, {1, 1});
  const auto all = load_agent_sources<float>(o, agents, {0, agents});
  EXPECT_EQ(all.moments.mean, (std::vector<double>{0.5, 20}));
  EXPECT_EQ(all.moments.deviation[1], 1);  // constant
  o.means = all.moments.mean;
  o.deviations = all.moments.deviation;
  EXPECT_EQ(missing_shard_fact(o), "");
  for (std::size_t agent = 0; agent < agents; ++agent) {
    const auto site = load_agent_sources<float>(o, agents, {agent, 1});
    EXPECT_EQ(site.shards.front().raw(), all.shards[agent].raw());
    EXPECT_EQ(site.test.raw(), all.test.raw());
  }
  o.means = {0.5, 10};  // they count, wherever they are from
  std::array<double, 2> sample{};
  load_agent_sources<double>(o, agents, {0, agents}).shards[1].read(0, 1, sample.data());
  EXPECT_EQ(sample[1], 10);
}

TEST_F(AgentSources, NumbersToNormalizeByMustFit) {
  DataOptions o = shards({"0,1,2\n", "1,3,4\n", "0,5,6\n", "1,7,8\n"});
  o.means = {1, 2};
  o.deviations = {1, 1};
  refused<ConfigError>(o, {"problem.means", "problem.normalize = true alone"});
  o.normalize = true;
  o.means = {1, 2, 3};
  refused<ConfigError>(o, {"problem.means has 3 numbers", "problem.deviations 2"});
  o.deviations = {1, 1, 1};
  refused<ConfigError>(o, {"problem.means has 3 numbers", "2 features"});
  o.features = 2;
  refused<ConfigError>(o, {"problem.means has 3 numbers", "problem.features = 2"});
  o.means.clear();
  refused<ConfigError>(o, {"problem.means has 0 numbers", "problem.deviations 3"});
}

TEST_F(AgentSources, BytesAndNumbersAreNotMixed) {
  draw_npy<float>("x-0", 4, 3);
  for (const char* name : {"x-1", "x-2", "x-3"}) draw_npy<std::uint8_t>(name, 4, 3);
  refused<FormatError>(apart("npy:x-{agent}"), {"agent 1", "x-1", "bytes", "x-0", "numbers"});
}

TEST_F(AgentSources, ShardsWithTargetsKeepThem) {
  DataOptions o = shards({"0.5,1\n", "-2,1\n0.25,2\n", "7,1\n", "1,1\n"});
  o.regression = true;
  const auto read = load_agent_sources<double>(o, agents, {1, 2}, [](const ShardFacts& mine) {
    EXPECT_TRUE(mine.labels.empty());
    return std::vector<ShardFacts>{{{1}, {1}, {1}, {}}, mine, {{1}, {1}, {1}, {}}};
  });
  EXPECT_EQ(read.classes, 0);
  EXPECT_EQ(read.shards[0].labels(), (std::vector<double>{-2, 0.25}));
  EXPECT_EQ(read.samples, (std::vector<std::size_t>{1, 2, 1, 1}));
}

}  // namespace
}  // namespace ticopd
