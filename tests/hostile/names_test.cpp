// Names that are not UTF-8, and labels that are files of ours.
#include "hostile/hostile.hpp"
#include "places.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// summary.csv as a name of a test.
std::string with_underscores(std::string text) {
  std::ranges::replace(text, '.', '_');
  return text;
}

bool valid_utf8(const std::string& text) {
  try {
    (void)json(text).dump();
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

class OddNames : public Hostile {
 protected:
  static inline const std::string bad = "caf\xe9";

  // Either all is there in the end, or nothing was begun. Both ends talk in UTF-8.
  void expect_all_or_nothing(const Arguments& words, const std::string& out) const {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(words);
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 0) {
      const json made = json::parse(read_text(folder_ / out / "run.json"), nullptr, false);
      ASSERT_TRUE(made.is_object());
      EXPECT_EQ(made["status"], "finished");
      EXPECT_TRUE(fs::exists(folder_ / out / "final.npy"));
      EXPECT_EQ(ticopd({"run", words[1], "--out", out, "--resume", "--quiet"}).code, 0);
    } else {
      EXPECT_EQ(o.code, 78) << o.err;
      expect_says(o.err, {"UTF-8"});
      EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
    }
  }
};

TEST_F(OddNames, OfAConfigThatIsNotUtf8EndWell) {
  write(bad + ".toml", small_problem);
  expect_all_or_nothing({"run", bad + ".toml", "--out", "out"}, "out");
}

TEST_F(OddNames, OfAnOutputFolderThatIsNotUtf8EndWell) {
  expect_all_or_nothing({"run", "small.toml", "--out", bad}, bad);
}

TEST_F(OddNames, OfTheConfigsFolderThatIsNotUtf8EndWell) {
  write(bad + "/in.toml", small_problem);
  expect_all_or_nothing({"run", bad + "/in.toml", "--out", "out"}, "out");
}

TEST_F(OddNames, OfARunInADefaultFolderEndWell) {
  write(bad + ".toml", small_problem);
  const Outcome o = ticopd({"run", bad + ".toml"});
  EXPECT_TRUE(o.code == 0 || o.code == 78) << o.err;
  EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out));
  EXPECT_EQ(o.code == 78, !fs::exists(folder_ / "runs"));
}

TEST_F(OddNames, OfDataThatAreNotUtf8EndWell) {
  std::string csv;
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(i % 4) + "," + std::to_string(i % 7) + "," + std::to_string(i % 3) + "\n";
  write(bad + ".csv", csv);
  write("data.toml",
        with(with(with(with(small_problem, "samples = 200\n", ""), "features = 6\n", ""),
                  "classes = 4\n", ""),
             "\"synthetic\"", "\"csv:data.csv\""));
  const Snapshot before = snapshot();
  const Outcome o =
      ticopd({"run", "data.toml", "--out", "out", "--set", "problem.data=csv:" + bad + ".csv"});
  EXPECT_EQ(o.code, 78) << o.err;
  EXPECT_TRUE(valid_utf8(o.err)) << o.err;
  EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
}

TEST_F(OddNames, InValuesAreRefusedBeforeTheFirstRound) {
  write("label.toml", small_problem + "[[run]]\nlabel = \"" + bad + "\"\n");
  write("title.toml", "name = \"" + bad + "\"\n" + small_problem);
  for (const Arguments& words : std::vector<Arguments>{
           {"compare", "label.toml", "--out", "out"},
           {"tune", "label.toml", "--out", "out"},
           {"run", "title.toml", "--out", "out"},
           {"run", "small.toml", "--out", "out", "--set", "name=" + bad},
           {"run", "small.toml", "--out", "out", "--set", "name=\"" + bad + "\""},
           {"run", "small.toml", "--out", "out", "--set", bad + "=1"},
           {"run", "small.toml", "--out", "out", "--set", "report.title=" + bad},
           {"compare", "small.toml", "--out", "out", "--set", "report.title=" + bad},
           {"run", "small.toml", "--out", "out", "--set", "graph.kind=" + bad}}) {
    const Snapshot before = snapshot();
    const Outcome o = ticopd(words);
    EXPECT_EQ(o.code, 78) << words.back() << o.err;
    EXPECT_TRUE(valid_utf8(o.err)) << o.err;
    EXPECT_TRUE(snapshot() == before) << changes(before, snapshot());
  }
}

TEST_F(OddNames, OfComparisonsAndSearchesEndWell) {
  write(bad + ".toml", small_problem);
  for (const Arguments& words :
       std::vector<Arguments>{{"compare", bad + ".toml", "--out", "c", "--quiet"},
                              {"tune", bad + ".toml", "--out", "t", "--runs", "2"},
                              {"compare", "small.toml", "--out", bad, "--quiet"},
                              {"tune", "small.toml", "--out", bad + "t", "--runs", "2"},
                              {"theory", bad + ".toml"}}) {
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 0 || o.code == 78) << words[0] << o.err;
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 78 && words.size() > 3) {
      EXPECT_FALSE(fs::exists(folder_ / words[3])) << words[0];
    }
  }
  if (fs::exists(folder_ / "t/tuned.toml")) {
    EXPECT_EQ(ticopd({"run", "t/tuned.toml", "--out", "again", "--quiet"}).code, 0);
  }
}

TEST_F(OddNames, OfReportedFoldersAreEscaped) {
  run("out");
  fs::rename(folder_ / "out", folder_ / bad);
  for (const Arguments& words :
       std::vector<Arguments>{{"report", bad, "--json"},
                              {"report", bad + "=" + bad, "--out", "r", "--json"},
                              {"report", "x=" + bad, bad, "--out", "s", "--title", bad, "--json"},
                              {"verify", bad, "--json"}}) {
    const Outcome o = ticopd(words);
    EXPECT_TRUE(o.code == 0 || o.code == 78) << o.err;
    EXPECT_TRUE(valid_utf8(o.err) && valid_utf8(o.out)) << o.err;
    if (o.code == 0) {
      EXPECT_FALSE(json::parse(o.out, nullptr, false).is_discarded()) << o.out;
    }
  }
  for (const auto& [name, bytes] : snapshot())
    if (name.ends_with(".csv") || name.ends_with(".html") || name.ends_with(".json")) {
      EXPECT_TRUE(valid_utf8(bytes)) << name;
    }
}

class OurFileNames : public Hostile, public ::testing::WithParamInterface<std::string> {};

TEST_P(OurFileNames, AsALabelAreRefusedBeforeTheFirstRun) {
  write("set.toml", small_problem + "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"" + GetParam() +
                        "\"\nseed = 2\n");
  expect_refused({"compare", "set.toml", "--out", "out"}, 78, {GetParam(), "label"});
}

INSTANTIATE_TEST_SUITE_P(Of, OurFileNames,
                         ::testing::Values("summary.csv", "compare.json", "report.html",
                                           "figure.svg", "figure.pdf", "figure.png"),
                         [](const auto& test) { return with_underscores(test.param); });

TEST_F(OurFileNames, OfASearchAreRefusedAsALabel) {
  write("set.toml",
        small_problem + "[[run]]\nlabel = \"fine\"\n[[run]]\nlabel = \"tuned.toml\"\nseed = 2\n");
  expect_refused({"tune", "set.toml", "--out", "out"}, 78, {"tuned.toml", "label"});
}

TEST_F(OurFileNames, AsALabelOfAReportAreFine) {
  run("a");
  const Outcome o = ticopd({"report", "summary.csv=a", "--out", "r"});
  EXPECT_EQ(o.code, 0) << o.err;
}

}  // namespace
}  // namespace ticopd
