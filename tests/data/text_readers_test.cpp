// The readers of LIBSVM and CSV files.
#include "data/temporary.hpp"
#include "ticopd/data/csv.hpp"
#include "ticopd/data/libsvm.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class T>
std::vector<T> dense(const Dataset<T>& data) {
  std::vector<T> x(data.samples() * data.features());
  data.read(0, data.samples(), x.data());
  return x;
}

class Libsvm : public TemporaryFolder {
 protected:
  void refused(const std::string& text, int line, const std::string& trouble) {
    const auto file = write("a.svm", text);
    expect_refused<FormatError>(
        [&] { read_libsvm<float>(file); },
        {line > 0 ? "a.svm:" + std::to_string(line) + ":" : "a.svm", trouble});
  }
};

TEST_F(Libsvm, ReadsSparseLinesCommentsAndSigns) {
  const std::string text = "+1 1:0.5 3:-2e-1 # note\n\n-1\r\n  2 2:+7\t4:1";
  for (const auto& file : {write("a.svm", text), write_gz("a.svm.gz", text)}) {
    const auto data = read_libsvm<double>(file);
    EXPECT_EQ(data.labels(), (std::vector<double>{1, -1, 2}));
    EXPECT_EQ(data.features(), 4u);
    EXPECT_EQ(dense(data), (std::vector<double>{0.5, 0, -0.2, 0, 0, 0, 0, 0, 0, 7, 0, 1}));
  }
  EXPECT_EQ(read_libsvm<float>(folder_ / "a.svm", 9).features(), 9u);
}

TEST_F(Libsvm, WideningDoesNotChangeTheSamples) {
  const auto data = read_libsvm<float>(write("a", "1 1:2\n"), 3);
  EXPECT_EQ(dense(data), (std::vector<float>{2, 0, 0}));
}

TEST_F(Libsvm, NamesTheLineOfAnError) {
  refused("1 1:1\n1 0:1\n", 2, "index 0");
  refused("1 2:1 1:1\n", 1, "ascending");
  refused("1 2:1 2:1\n", 1, "ascending");
  refused("1 1:x\n", 1, "`1:x`");
  refused("1 x:1\n", 1, "`x:1`");
  refused("1 5\n", 1, "index:value");
  refused("1 1:\n", 1, "index:value");
  refused("1 1:1 1:2:3\n", 1, "index:value");
  refused("1 -1:1\n", 1, "index:value");
  refused("1 1:nan\n", 1, "finite");
  refused("1 1:1e400\n", 1, "index:value");
  refused("1 1:1e39\n", 1, "finite");  // infinite in float
  refused("1 99999999999:1\n", 1, "index:value");
  refused("1 4294967295:1\n", 1, "allowed are 1");
  refused("cat 1:1\n", 1, "label");
  refused("nan 1:1\n", 1, "label");
  refused("1:1 2:1\n", 1, "label");
  refused("", 0, "no samples");
  refused("# only a comment\n", 0, "no samples");
  refused("1\n2\n", 0, "no features");
  expect_refused<FormatError>([&] { read_libsvm<float>(folder_ / "none"); }, {"none"});
  expect_refused<FormatError>([&] { read_libsvm<float>(folder_); }, {folder_.string(), "folder"});
}

class Csv : public TemporaryFolder {
 protected:
  void refused(const std::string& text, int line, const std::string& trouble) {
    const auto file = write("a.csv", text);
    expect_refused<FormatError>(
        [&] { read_csv<float>(file); },
        {line > 0 ? "a.csv:" + std::to_string(line) + ":" : "a.csv", trouble});
  }
};

TEST_F(Csv, ReadsTheLabelFirstWithOrWithoutAHeader) {
  const std::string body = "1, 0.5,-2\r\n\n0,1e3,+4\n";
  for (const auto& file : {write("a.csv", body), write("b.csv", "label,\"x, y\",z\n" + body),
                           write_gz("c.csv.gz", "label,x,y\n" + body)}) {
    if (file.filename() == "b.csv") continue;  // quoted commas are not supported, see below
    const auto data = read_csv<double>(file);
    EXPECT_EQ(data.labels(), (std::vector<double>{1, 0}));
    EXPECT_EQ(dense(data), (std::vector<double>{0.5, -2, 1000, 4}));
  }
  expect_refused<FormatError>([&] { read_csv<float>(folder_ / "b.csv"); }, {"b.csv:2", "columns"});
}

TEST_F(Csv, KeepsTheFirstSampleAfterAByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_EQ(read_csv<float>(write("a.csv", mark + "1,2\n3,4\n")).labels(),
            (std::vector<double>{1, 3}));
  EXPECT_EQ(read_csv<float>(write("b.csv", mark + "label,x\n3,4\n")).labels(),
            (std::vector<double>{3}));
  EXPECT_EQ(read_libsvm<float>(write("c.svm", mark + "1 1:2\n")).labels(),
            (std::vector<double>{1}));
}

TEST_F(Csv, TreatsAFirstLineWithANumberAsASample) {
  refused("1,NA,3\n4,5,6\n", 1, "column 2: expected a number, found `NA`");
  refused("label,0,1\n4,5,6\n", 1, "column 1: expected a number, found `label`");
}

TEST_F(Csv, ReadsTheLabelFromAnyColumn) {
  const auto file = write("a.csv", "1,2,3\n4,5,6\n");
  EXPECT_EQ(read_csv<float>(file, -1).labels(), (std::vector<double>{3, 6}));
  EXPECT_EQ(dense(read_csv<float>(file, 1)), (std::vector<float>{1, 3, 4, 6}));
  expect_refused<FormatError>([&] { read_csv<float>(file, 3); }, {"a.csv:1", "column 3"});
  expect_refused<FormatError>([&] { read_csv<float>(file, -4); }, {"a.csv:1", "column -4"});
}

TEST_F(Csv, NamesTheLineOfAnError) {
  refused("1,2\n3,nan\n", 2, "finite");
  refused("1,2\n3,inf\n", 2, "finite");
  refused("nan,2\n", 1, "finite");
  refused("1,2\n3,1e39\n", 2, "too large");
  refused("1,2,3\n4,5\n", 2, "2 columns, the first line has 3");
  refused("1,2\n4,5,6\n", 2, "3 columns");
  refused("1,2\n,5\n", 2, "expected a number, found ``");
  refused("1,2\n5,\n", 2, "expected a number");
  refused("1,2\nx,5\n", 2, "`x`");
  refused("1,2\n3,4 5\n", 2, "`4 5`");
  refused("1;2\n", 1, "columns");
  refused("1\n2\n", 1, "columns");
  refused("", 0, "no samples");
  refused("label,x\n", 0, "no samples");
  expect_refused<FormatError>([&] { read_csv<float>(folder_ / "none"); }, {"none"});
  expect_refused<FormatError>([&] { read_csv<float>(folder_); }, {folder_.string(), "folder"});
}

}  // namespace
}  // namespace ticopd
