#include "ticopd/data/npy_source.hpp"
// problem.data in each of its forms: how samples, classes and test sets are found.
#include "data/temporary.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

class Source : public TemporaryFolder {
 protected:
  DataOptions options(const std::string& data) const {
    DataOptions o;
    o.data = data;
    o.base = folder_;
    return o;
  }
  template <class E>
  void refused(const DataOptions& o, const std::vector<std::string>& parts) const {
    expect_refused<E>([&] { load<float>(o); }, parts);
  }
  void npy(const std::string& name, const std::vector<std::size_t>& shape,
           const std::vector<double>& data) {
    write_npy<double>(folder_ / name, shape, data);
  }
};

TEST_F(Source, LibsvmLabelsBecomeClassesInAscendingOrder) {
  write("a", "3 1:1\n-1 2:1\n7 1:2\n3 2:2\n");
  write("a.t", "7 5:1\n-1 1:1\n");
  const auto data = load<float>(options("libsvm:a"));
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.train.labels(), (std::vector<double>{1, 0, 2, 1}));
  EXPECT_EQ(data.test.labels(), (std::vector<double>{2, 0}));
  EXPECT_EQ(data.train.features(), 5u);  // the test file has more features
  EXPECT_EQ(data.test.features(), 5u);
  EXPECT_EQ(data.name, "libsvm:a");
}

TEST_F(Source, LibsvmReadsTheGivenTestFile) {
  write("a", "1 1:1\n2 3:1\n");
  write("a.t", "9 1:1\n");
  write("b", "2 1:1\n");
  auto o = options("libsvm:a");
  refused<FormatError>(o, {"a.t", "label 9", "no training sample"});
  o.test = "b";
  EXPECT_EQ(load<float>(o).test.labels(), std::vector<double>{1});
  EXPECT_EQ(load<float>(o).test.features(), 3u);
  write("between", "1 1:1\n1.5 1:1\n");
  o.test = "between";
  refused<FormatError>(o, {"between", "sample 1 has label 1.5"});
  o.test = "none";
  refused<FormatError>(o, {"none"});
}

TEST_F(Source, RegressionKeepsTheTargets) {
  write("a", "0.5 1:1\n-2.25 2:1\n");
  auto o = options("libsvm:a");
  refused<FormatError>(o, {"/a", "0.5", "whole numbers", "least_squares"});
  o.regression = true;
  const auto data = load<double>(o);
  EXPECT_EQ(data.classes, 0);
  EXPECT_EQ(data.train.labels(), (std::vector<double>{0.5, -2.25}));
}

TEST_F(Source, DataOfOneClassIsRejected) {
  write("a.csv", "1,2\n1,3\n");
  refused<FormatError>(options("csv:a.csv"), {"a.csv", "1 different labels"});
}

TEST_F(Source, CsvRequiresATestFileOfTheSameWidth) {
  write("a.csv", "1,2,3\n0,5,6\n");
  write("b.csv", "y,u,v\n1,8,9\n");
  write("c.csv", "1,8\n0,2\n");
  auto o = options("csv:a.csv");
  EXPECT_EQ(load<float>(o).test.samples(), 0u);
  o.test = "b.csv";
  EXPECT_EQ(load<float>(o).test.labels(), std::vector<double>{1});
  o.test = "c.csv";
  refused<FormatError>(o, {"c.csv", "1 features", "has 2"});
}

TEST_F(Source, NpyReadsAFolderOfArrays) {
  npy("X.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
  npy("y.npy", {3}, {1, 0, 1});
  EXPECT_EQ(load<float>(options("npy:.")).test.samples(), 0u);
  npy("X_test.npy", {1, 2}, {7, 8});
  npy("y_test.npy", {1}, {0});
  const auto data = load<float>(options("npy:" + folder_.string()));
  EXPECT_EQ(data.classes, 2);
  std::vector<float> x(6);
  data.train.read(0, 3, x.data());
  EXPECT_EQ(x, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(data.test.labels(), std::vector<double>{0});
}

TEST_F(Source, NpyBytesAreReadAsPixels) {
  const std::vector<std::uint8_t> pixels{0, 255, 51, 0};
  write_npy<std::uint8_t>(folder_ / "X.npy", std::vector<std::size_t>{2, 2}, pixels);
  npy("y.npy", {2}, {0, 1});
  std::vector<double> x(4);
  load<double>(options("npy:.")).train.read(0, 2, x.data());
  EXPECT_NEAR(x[2], 0.2, 1e-15);
}

TEST_F(Source, NpyRejectsShapesThatDoNotMatch) {
  npy("X.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
  refused<FormatError>(options("npy:."), {"y.npy"});
  npy("y.npy", {2}, {1, 0});
  refused<FormatError>(options("npy:."), {"y.npy", "expected (3)"});
  npy("X.npy", {3}, {1, 2, 3});
  refused<FormatError>(options("npy:."), {"X.npy", "samples x features"});
}

TEST_F(Source, StackedRegressionReadsABlockPerAgent) {
  npy("A.npy", {2, 1, 3}, {1, 2, 3, 4, 5, 6});
  npy("b.npy", {2, 1}, {7, 8});
  const auto data = load_stacked<float>(folder_);
  EXPECT_EQ(data.agents, 2u);
  EXPECT_EQ(data.samples, 1u);
  EXPECT_EQ(data.features, 3u);
  EXPECT_EQ(data.a, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(data.b, (std::vector<float>{7, 8}));
  npy("b.npy", {1, 2}, {7, 8});
  expect_refused<FormatError>([&] { load_stacked<float>(folder_); }, {"b.npy", "expected (2, 1)"});
  npy("A.npy", {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_refused<FormatError>([&] { load_stacked<float>(folder_); },
                              {"A.npy", "agents x samples x features"});
}

TEST_F(Source, MaxSamplesKeepsTheFirstSamplesBeforeNormalizing) {
  auto o = options("synthetic");
  o.samples = 100;
  o.max_samples = 30;
  o.normalize = true;
  const auto data = load<double>(o);
  EXPECT_EQ(data.train.samples(), 30u);
  EXPECT_EQ(data.test.samples(), 20u);
  std::vector<double> x(30 * 64);
  data.train.read(0, 30, x.data());
  double sum = 0;
  for (std::size_t s = 0; s < 30; ++s) sum += x[s * 64];
  EXPECT_NEAR(sum, 0, 1e-12);
  o.max_samples = 1000;
  EXPECT_EQ(load<double>(o).train.samples(), 100u);
}

TEST_F(Source, SyntheticMakesARegressionOnRequest) {
  auto o = options("synthetic");
  EXPECT_EQ(load<float>(o).classes, 10);
  o.regression = true;
  EXPECT_EQ(load<float>(o).classes, 0);
  EXPECT_EQ(load<float>(options("digits")).train.samples(), 2000u);
}

TEST_F(Source, UnknownFormsAreRejectedWithTheAllowedOnes) {
  refused<ConfigError>(options("mnits"),
                       {"problem.data = \"mnits\"", "libsvm:FILE", "did you mean \"mnist\""});
  refused<ConfigError>(options("libsm:x"), {"problem.data", "did you mean \"libsvm\""});
  refused<ConfigError>(options(""), {"problem.data = \"\"", "idx:DIR"});
  refused<ConfigError>(options("idx"), {"problem.data = \"idx\"", "expected idx:DIR"});
  refused<ConfigError>(options("csv:"), {"expected csv:FILE"});
  refused<ConfigError>(options("mnist:x"), {"nothing may follow mnist"});
  auto o = options("synthetic");
  o.test = "x";
  refused<ConfigError>(o, {"problem.test", "libsvm:FILE"});
}

TEST_F(Source, TheTableListsEveryForm) {
  std::vector<std::string> names;
  for (const DataInfo& info : data_table()) {
    names.push_back(info.form());
    EXPECT_FALSE(info.summary.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"mnist", "idx:DIR", "libsvm:FILE", "csv:FILE",
                                             "npy:DIR", "synthetic", "digits"}));
}

}  // namespace
}  // namespace ticopd
