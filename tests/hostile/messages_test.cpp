// Messages that named the wrong cause, and files that are right and were refused.
#include <linux/capability.h>
#include <sys/prctl.h>

#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string byte_order_mark = "\xef\xbb\xbf";

// root reads every folder unless these rights are given up.
void read_only_what_is_allowed() {
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0);
  ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0);
}

class Unreadable : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("locked/", "");
    fs::permissions(folder_ / "locked", fs::perms::none);
  }
  void TearDown() override {
    fs::permissions(folder_ / "locked", fs::perms::owner_all);
    Hostile::TearDown();
  }
  Outcome without_rights(const Arguments& words) const {
    return Program(folder_, words, {}, read_only_what_is_allowed).wait();
  }
  void skip_if_root_reads_it() const {
    const Outcome o = without_rights({"run", "locked/x.toml", "--out", "o"});
    if (contains(o.err, "No such file")) GTEST_SKIP() << "the rights cannot be given up here";
  }
};

TEST_F(Unreadable, FolderIsNotCalledNotEmpty) {
  skip_if_root_reads_it();
  if (IsSkipped()) return;
  for (const Arguments& words :
       std::vector<Arguments>{{"run", "small.toml", "--out", "locked"},
                              {"run", "small.toml", "--out", "locked", "--resume"},
                              {"compare", "small.toml", "--out", "locked"},
                              {"tune", "small.toml", "--out", "locked"},
                              {"demo", "--out", "locked", "--offline"}}) {
    const Outcome o = without_rights(words);
    EXPECT_TRUE(o.code == 64 || o.code == 74) << o.code << o.err;
    expect_says(o.err, {"locked", "Permission denied"});
    expect_does_not_say(o.err, {"not empty", "no run"});
  }
}

TEST_F(Unreadable, FilesAreNamedWithTheReason) {
  skip_if_root_reads_it();
  if (IsSkipped()) return;
  run("done");
  for (const char* file : {"done/run.json", "done/metrics.csv", "done/checkpoint.safetensors"}) {
    if (!contains(file, "run.json")) forget_the_end("done");
    fs::permissions(folder_ / file, fs::perms::none);
    const Outcome o = without_rights({"run", "small.toml", "--out", "done", "--resume"});
    EXPECT_TRUE(o.code == 74 || o.code == 65) << o.code << o.err;
    expect_says(o.err, {file, "Permission denied"});
    fs::permissions(folder_ / file, fs::perms::owner_all);
  }
  for (const Arguments& words : std::vector<Arguments>{
           {"run", "locked/a.toml", "--out", "o"},
           {"run", "small.toml", "--out", "o", "--set", "problem={data=\"csv:locked/a.csv\"}"},
           {"report", "locked"},
           {"verify", "locked"},
           {"audit", "locked"}}) {
    const Outcome o = without_rights(words);
    EXPECT_NE(o.code, 70) << o.err;
    expect_says(o.err, {"locked", "Permission denied"});
  }
}

TEST_F(Unreadable, ParentOfANewFolderIsNamed) {
  skip_if_root_reads_it();
  if (IsSkipped()) return;
  const Outcome o = without_rights({"run", "small.toml", "--out", "locked/new"});
  EXPECT_TRUE(o.code == 64 || o.code == 74) << o.code << o.err;
  expect_says(o.err, {"locked", "Permission denied"});
}

class WrongPlugin : public Hostile {};

TEST_F(WrongPlugin, IsNamedByItsVariableAndItsReason) {
  write("text.so", "not a library");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {(folder_ / "none.so").string(), "no such file"},
      {(folder_ / "text.so").string(), "text.so"},
      {folder_.string(), "not a file"},
      {places::binary(), ""}};
  for (const auto& [file, why] : wrong)
    for (const Arguments& words : std::vector<Arguments>{
             {"run", "small.toml", "--out", "out", "--set", "network.transport=mpi"},
             {"launch", "-n", "2", "--", "run", "small.toml"}}) {
      const Outcome o = ticopd(words, {{"TICOPD_MPI_PLUGIN", file}});
      EXPECT_EQ(o.code, 69) << o.err;
      expect_says(o.err, {"TICOPD_MPI_PLUGIN", file, why});
      expect_does_not_say(o.err, {"has no MPI part", "has no MPI support", "libopenmpi-dev"});
      EXPECT_FALSE(fs::exists(folder_ / "out"));
    }
}

class EdgeLists : public Hostile {
 protected:
  void SetUp() override {
    Hostile::SetUp();
    write("six.toml",
          with(small_problem, "agents = 4\n", "kind = \"file\"\npath = \"edges.txt\"\n"));
  }
  const Arguments six{"run", "six.toml", "--out", "out", "--quiet"};
};

TEST_F(EdgeLists, WithAByteOrderMarkAreRead) {
  for (const std::string text :
       {"0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n", "# a ring\n0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n"}) {
    write("edges.txt", byte_order_mark + text);
    const Outcome o = ticopd(six);
    EXPECT_EQ(o.code, 0) << o.err;
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(EdgeLists, InAnotherEncodingAreRefusedInVisibleWords) {
  std::string wide = "\xff\xfe";
  for (const char c : std::string("0 1\n1 2\n")) wide += std::string{c, '\0'};
  write("edges.txt", wide);
  const Outcome o = ticopd(six);
  EXPECT_EQ(o.code, 65) << o.err;
  for (const char c : o.err)
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f')) << static_cast<int>(c) << o.err;
  // A blank that is none, one without width, and one that turns the text around.
  for (const std::string bad : {"\xc2\xa0", "\xe2\x80\x8b", "\xe2\x80\xae"}) {
    write("edges.txt", "0 1" + bad + "\n1 2\n");
    const Outcome o2 = ticopd(six);
    EXPECT_EQ(o2.code, 65) << o2.err;
    expect_says(o2.err, {"\\u"});
    expect_does_not_say(o2.err, {bad});
  }
}

TEST_F(EdgeLists, TellTheNumberOfAgents) {
  write("edges.txt", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n");
  const Outcome o = ticopd(six);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary("out")["agents"], 6);
  EXPECT_EQ(ticopd({"verify", "out", "--quiet"}).code, 0);
  forget_the_end();
  const Outcome again = ticopd({"run", "six.toml", "--out", "out", "--resume", "--quiet"});
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(EdgeLists, DoNotOverruleAGivenNumberOfAgents) {
  write("edges.txt", "0 1\n1 2\n2 3\n3 4\n4 5\n5 0\n");
  const Outcome o = ticopd({"run", "six.toml", "--out", "out", "--set", "graph.agents=4"});
  EXPECT_EQ(o.code, 65) << o.err;
  expect_says(o.err, {"edges.txt", "4"});
  const Outcome more = ticopd({"run", "six.toml", "--out", "out", "--set", "graph.agents=8"});
  EXPECT_NE(more.code, 0);
  EXPECT_NE(more.code, 70) << more.err;
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(EdgeLists, WithAHugeAgentAreRefused) {
  for (const char* agent : {"4000000000", "2147483647", "99999999999999999999", "-1"}) {
    write("edges.txt", std::string("0 1\n1 ") + agent + "\n");
    const Outcome o = ticopd(six);
    EXPECT_TRUE(o.code == 65 || o.code == 78) << o.code << o.err;
    expect_says(o.err, {"edges.txt"});
  }
}

class DataFiles : public Hostile {
 protected:
  static std::string csv_text(int first) {
    std::string text;
    for (int i = first; i < first + 40; ++i)
      text +=
          std::to_string(i % 2) + "," + std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
    return text;
  }
  Arguments with_data(const Arguments& keys) const {
    Arguments all{"run", "data.toml", "--out", "out", "--quiet"};
    for (const std::string& k : keys) all.insert(all.end(), {"--set", k});
    return all;
  }
  void SetUp() override {
    Hostile::SetUp();
    write("data.toml", with(with(with(small_problem, "samples = 200\n", ""), "features = 6\n", ""),
                            "classes = 4\n", ""));
    write("train.csv", csv_text(0));
    write("test.csv", csv_text(5));
  }
};

TEST_F(DataFiles, OfTestSamplesMayBeNamedWithTheirFormat) {
  const Outcome plain = ticopd(with_data({"problem.data=csv:train.csv", "problem.test=test.csv"}));
  EXPECT_EQ(plain.code, 0) << plain.err;
  fs::rename(folder_ / "out", folder_ / "plain");
  const Outcome named =
      ticopd(with_data({"problem.data=csv:train.csv", "problem.test=csv:test.csv"}));
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(metrics("out"), metrics("plain"));
  EXPECT_NE(metrics("out").back().at(7), "");  // accuracy_min
  const Outcome verified = ticopd({"verify", "out", "--quiet"});
  EXPECT_EQ(verified.code, 0) << verified.err;
}

TEST_F(DataFiles, OfTestSamplesInAnotherFormatAreRefusedByName) {
  const Outcome o =
      ticopd(with_data({"problem.data=csv:train.csv", "problem.test=libsvm:test.csv"}));
  EXPECT_EQ(o.code, 78) << o.err;
  expect_says(o.err, {"problem.test", "libsvm:test.csv"});
}

TEST_F(DataFiles, OfLibsvmWithIndexZeroSayHowToExport) {
  write("zero.svm", "0 0:1 1:2\n1 0:2 2:1\n");
  const Outcome o = ticopd(with_data({"problem.data=libsvm:zero.svm"}));
  EXPECT_EQ(o.code, 65) << o.err;
  expect_says(o.err, {"zero.svm:1", "index 0", "from 1"});
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(DataFiles, WithAByteOrderMarkAreReadLikeEdgeLists) {
  ASSERT_EQ(ticopd(with_data({"problem.data=csv:train.csv"})).code, 0);
  fs::rename(folder_ / "out", folder_ / "plain");
  write("bom.csv", byte_order_mark + csv_text(0));
  const Outcome o = ticopd(with_data({"problem.data=csv:bom.csv"}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(summary("out")["digest"], summary("plain")["digest"]);
  fs::remove_all(folder_ / "out");
  std::string libsvm;
  for (int i = 0; i < 40; ++i)
    libsvm += std::to_string(i % 2) + " 1:" + std::to_string(i % 7) +
              " 2:" + std::to_string(i % 3) + "\n";
  write("bom.svm", byte_order_mark + libsvm);
  const Outcome svm = ticopd(with_data({"problem.data=libsvm:bom.svm"}));
  EXPECT_EQ(svm.code, 0) << svm.err;
  write("bom.toml", byte_order_mark + small_problem);
  const Outcome toml = ticopd({"run", "bom.toml", "--out", "toml", "--quiet"});
  EXPECT_EQ(toml.code, 0) << toml.err;
}

}  // namespace
}  // namespace ticopd
