// A rank reads only the samples of its own agents. It must get the same samples as when it reads
// all and selects.
#include <algorithm>
#include <cmath>

#include "data/drawn_sets.hpp"
#include "ticopd/data/npy_source.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class T>
void expect_same(const Dataset<T>& got, const Dataset<T>& want, const std::string& what) {
  EXPECT_EQ(got.samples(), want.samples()) << what;
  EXPECT_EQ(got.features(), want.features()) << what;
  EXPECT_EQ(got.labels(), want.labels()) << what;
  ASSERT_EQ(got.raw().index(), want.raw().index()) << what;
  const bool same = std::visit(
      [&](const auto& x) { return x == std::get<std::decay_t<decltype(x)>>(want.raw()); },
      got.raw());
  EXPECT_TRUE(same) << what;
}

template <class T>
class Chosen : public DrawnSets {
 protected:
  std::vector<DataOptions> every_form() {
    draw_idx("plain", 60, 3, false);
    draw_idx("zipped", 60, 3, true);
    draw_text("a.csv", 60, 6, false, false);
    draw_text("b.csv", 5, 6, false, true);
    draw_text("a.svm", 60, 6, true, true);
    draw_text("a.svm.t", 5, 8, true, false);  // has more features than its training file
    draw_npy<double>("doubles", 60, 5);
    draw_npy<float>("floats", 60, 5);
    draw_npy<std::uint8_t>("bytes", 60, 5);
    std::vector<DataOptions> all;
    for (const char* data : {"idx:plain", "idx:zipped", "csv:a.csv", "libsvm:a.svm", "npy:doubles",
                             "npy:floats", "npy:bytes", "synthetic", "digits"}) {
      all.push_back(options(data));
      if (all.back().data == "csv:a.csv") all.back().test = "b.csv";
      all.push_back(all.back());
      all.back().regression = true;
    }
    return all;
  }

  // Compares with load(options), which reads all samples.
  void expect_like_select(const DataOptions& o, const Choose& choose, const std::string& what) {
    const TrainTest<T> whole = load<T>(o);
    const auto list = choose(whole.train.labels(), whole.classes);
    const Choose checked = [&](std::span<const double> labels, int classes) {
      EXPECT_EQ(std::vector<double>(labels.begin(), labels.end()), whole.train.labels()) << what;
      EXPECT_EQ(classes, whole.classes) << what;
      return choose(labels, classes);
    };
    const TrainTest<T> got = load<T>(o, checked);
    expect_same(got.train, whole.train.select(list), what);
    expect_same(got.test, whole.test, what + " test");
    EXPECT_EQ(got.classes, whole.classes) << what;
    EXPECT_EQ(got.name, whole.name) << what;
  }
};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Chosen, Scalars);

TYPED_TEST(Chosen, SamplesOfEachAgentEqualThoseSelectedFromTheWholeSet) {
  for (DataOptions o : this->every_form())
    for (const bool normalize : {false, true})
      for (const std::size_t most : {0u, 31u}) {
        o.normalize = normalize;
        o.max_samples = most;
        for (const char* kind : {"label", "sorted", "iid", "dirichlet"}) {
          const bool by_class = kind == std::string("label") || kind == std::string("dirichlet");
          if (o.regression && by_class) continue;
          const Choose last_two = [&](std::span<const double> labels, int classes) {
            auto parts = partition(labels, classes, 3, parse_partition(kind), 1.0, 1);
            parts[1].insert(parts[1].end(), parts[2].begin(), parts[2].end());
            return parts[1];
          };
          this->expect_like_select(
              o, last_two,
              o.data + (normalize ? " normalized" : "") + " " + std::to_string(most) + " " + kind);
        }
      }
}

TYPED_TEST(Chosen, IndicesMayRepeatInAnyOrder) {
  for (const DataOptions& o : this->every_form())
    this->expect_like_select(
        o, [](auto, int) { return std::vector<std::uint32_t>{59, 0, 7, 7, 58, 0}; }, o.data);
}

TYPED_TEST(Chosen, IndexBeyondTheLastSampleIsRejected) {
  auto o = this->options("synthetic");
  o.max_samples = 20;
  const Choose beyond = [](auto, int) { return std::vector<std::uint32_t>{20}; };
  EXPECT_THROW(load<TypeParam>(o, beyond), std::out_of_range);
}

class ChosenFrom : public DrawnSets {
 protected:
  void refused(const std::string& data, const std::vector<std::string>& parts) const {
    const Choose first = [](auto, int) { return std::vector<std::uint32_t>{0}; };
    expect_refused<FormatError>([&] { load<float>(options(data), first); }, parts);
  }
};

// Every rank must reject a bad file, even if the bad sample belongs to another rank.
TEST_F(ChosenFrom, BadFileIsRejectedForSamplesThatAreNotChosen) {
  write("a.csv", "0,1\n1,2\n0,x\n");
  refused("csv:a.csv", {"a.csv:3", "expected a number"});
  write("a.svm", "0 1:1\n1 2:1\n0 0:5\n");
  refused("libsvm:a.svm", {"a.svm:3", "index 0"});
  write_npy<float>(folder_ / "X.npy", std::vector<std::size_t>{3, 2},
                   std::vector<float>{1, 2, 3, 4, 5, NAN});
  write_npy<double>(folder_ / "y.npy", std::vector<std::size_t>{3}, std::vector<double>{0, 1, 0});
  refused("npy:.", {"X.npy", "item 5 is not a finite"});
}

TEST_F(ChosenFrom, ArchiveWithAnotherLengthThanItsHeaderIsRejected) {
  draw_idx("set", 6, 2, true);
  for (const char* name : {"set/t10k-images-idx3-ubyte.gz", "set/t10k-labels-idx1-ubyte.gz"})
    std::filesystem::remove(folder_ / name);
  for (const std::size_t bytes : {23u, 25u, 3u}) {
    std::string images("\0\0\x08\x03\0\0\0\x06\0\0\0\x02\0\0\0\x02", 16);
    images.resize(16 + bytes, 'x');
    write_gz("set/train-images-idx3-ubyte.gz", images);
    refused("idx:set", {"train-images-idx3-ubyte.gz", "promises 24 bytes (6 x 2 x 2)",
                        std::to_string(bytes) + " follow"});
  }
  // A header that claims 2^61 pixels must not make the reader allocate them.
  std::string images("\0\0\x08\x03\0\0\0\x06\x7f\xff\xff\xff\x10\0\0\0", 16);
  write_gz("set/train-images-idx3-ubyte.gz", images + "pixels");
  refused("idx:set", {"train-images-idx3-ubyte.gz", "6 follow"});
}

TEST_F(ChosenFrom, StackedRegressionKeepsTheBlocksOfItsAgentsAndChecksAll) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, b{1, 2, 3, 4, 5, 6};
  write_npy<double>(folder_ / "A.npy", std::vector<std::size_t>{3, 2, 2}, a);
  write_npy<double>(folder_ / "b.npy", std::vector<std::size_t>{3, 2}, b);
  const auto middle = [](std::size_t agents, std::size_t samples) -> AgentRange {
    EXPECT_EQ(agents, 3u);
    EXPECT_EQ(samples, 2u);
    return {1, 1};
  };
  const auto stack = load_stacked<float>(folder_, middle);
  EXPECT_EQ(stack.agents, 3u);
  EXPECT_EQ(stack.a, (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(stack.b, (std::vector<float>{3, 4}));
  EXPECT_EQ(load_stacked<double>(folder_).a, a);
  auto bad = a;
  bad[11] = NAN;
  write_npy<double>(folder_ / "A.npy", std::vector<std::size_t>{3, 2, 2}, bad);
  expect_refused<FormatError>([&] { load_stacked<float>(folder_, middle); }, {"A.npy", "item 11"});
}

}  // namespace
}  // namespace ticopd
