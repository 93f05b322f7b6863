// Deep nesting, and text that a terminal or a spreadsheet would obey.
#include "hostile/checkpoint_file.hpp"
#include "hostile/hostile.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class DeepNesting : public Hostile {
 protected:
  static std::string repeated(const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  }
  static std::string deep_json(const std::string& inside = "") {
    return repeated("[", 20000) + inside + repeated("]", 20000);
  }
  const Arguments deep{"run", "deep.toml", "--out", "out"};
};

TEST_F(DeepNesting, OfAConfigIsRefused) {
  const std::string dots = repeated("a.", 40000) + "a";
  const std::string quoted = repeated("\"a\".", 40000) + "a",
                    spaced = repeated("a . ", 40000) + "a";
  for (const std::string& toml :
       {dots + " = 1\n", quoted + " = 1\n", spaced + " = 1\n", "[" + dots + "]\n",
        "[[" + dots + "]]\n", "a = " + repeated("[", 20000), "a = " + deep_json() + "\n",
        "a = " + repeated("{a = ", 20000) + "1" + repeated("}", 20000) + "\n",
        repeated("[" + repeated("a.", 60) + "a]\n", 1) +
            repeated(repeated("b.", 60) + "b = {", 60) + "c = 1" + repeated("}", 60) + "\n"}) {
    write("deep.toml", toml);
    expect_refused(deep, 78, {"deep.toml"});
    expect_refused({"compare", "deep.toml", "--out", "out"}, 78, {"deep.toml"});
    expect_refused({"tune", "deep.toml", "--out", "out"}, 78, {"deep.toml"});
  }
}

TEST_F(DeepNesting, OfAnOverrideIsRefused) {
  const std::string dots = repeated("a.", 40000) + "a";
  const Outcome o = ticopd({"run", "small.toml", "--out", "out", "--set", dots + "=1"});
  EXPECT_EQ(o.code, 78) << o.err.substr(0, 300);
  EXPECT_LT(o.err.size(), 500u);  // the key is not repeated
  for (const std::string& value :
       {deep_json(), repeated("{a=", 20000) + "1" + repeated("}", 20000), "{" + dots + "=1}"}) {
    const Outcome v = ticopd({"run", "small.toml", "--out", "out", "--set", "a=" + value});
    EXPECT_EQ(v.code, 78) << v.err.substr(0, 300);
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

// Text and comments have no depth, and a config may have some.
TEST_F(DeepNesting, OfWhatIsNotNestedIsNoMistake) {
  write("deep.toml", "name = \"" + repeated("[{.", 2000) + "\"\n# " + repeated("a.[{", 2000) +
                         "\n" + small_problem + "[report]\ntitle = '''" + repeated("[.", 2000) +
                         "\n'''\n");
  const Outcome o = ticopd({"run", "deep.toml", "--out", "out", "--quiet"});
  EXPECT_EQ(o.code, 0) << o.err.substr(0, 300);
}

TEST_F(DeepNesting, OfJsonFilesIsRefused) {
  run("out");
  const std::string whole = read_text(folder_ / "out/run.json");
  for (const std::string& bytes :
       {deep_json(), repeated("{\"a\":", 20000) + "1" + repeated("}", 20000),
        with(whole, "{", "{\"x\": " + deep_json() + ","), repeated("[", 20000)}) {
    write("out/run.json", bytes);
    for (const Arguments& command :
         std::vector<Arguments>{{"report", "out"},
                                {"verify", "out"},
                                {"audit", "out"},
                                {"run", "small.toml", "--out", "out", "--resume"}})
      expect_refused(command, 65, {"run.json"});
  }
  write("all/compare.json", with(R"({"title": "x", "runs": []})", "\"x\"", deep_json()));
  expect_refused({"report", "all"}, 65, {"compare.json"});
}

TEST_F(DeepNesting, OfASearchOrACheckpointIsRefused) {
  write("search/search.json", deep_json());
  expect_refused({"tune", "small.toml", "--out", "search", "--resume"}, 65, {"search.json"});
  run("out");
  forget_the_end();
  std::string header = "{\"__metadata__\": " + deep_json() + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = header.size();
  write("out/checkpoint.safetensors",
        std::string(reinterpret_cast<const char*>(&length), sizeof length) + header);
  expect_refused({"run", "small.toml", "--out", "out", "--resume"}, 65, {"checkpoint.safetensors"});
}

class ObeyedText : public Hostile {
 protected:
  static inline const std::string escape = "\x1b]0;owned\x07\x1b[2J\xe2\x80\xae";
  static inline const std::string in_toml = "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e";
  void expect_clean(const Outcome& o) const {
    for (const std::string* text : {&o.out, &o.err})
      for (const std::string bad : {"\x1b", "\x07", "\xc2\x9b", "\r", "\b", "\xe2\x80\xae"})
        EXPECT_FALSE(contains(*text, bad)) << *text;
  }
};

TEST_F(ObeyedText, LabelsWithEscapesAreCleanOnTheTerminal) {
  write("two.toml", small_problem + "[[run]]\nlabel = \"a" + in_toml + "\"\n[[run]]\nlabel = \"b" +
                        in_toml + "\"\nalgorithm.eta = 1e6\n");
  const Outcome compared = ticopd({"compare", "two.toml", "--out", "out"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  expect_clean(compared);
  expect_says(compared.err, {"owned"});
  expect_clean(ticopd({"report", "out"}));
  expect_clean(ticopd({"tune", "two.toml", "--out", "tuned", "--runs", "2"}));
}

TEST_F(ObeyedText, NamesAndValuesWithEscapesAreCleanInMessages) {
  run("out");
  const std::string bad = "x" + escape;
  write(bad + ".toml", "seed = 'x'\n");
  write("key.toml", "\"a" + in_toml + "\" = 1\n");
  write("data.csv", "1,2\n1," + escape + "\n");
  for (const Arguments& words : std::vector<Arguments>{
           {"run", bad + ".toml", "--out", "o"},
           {"run", "none" + bad, "--out", "o"},
           {"run", "key.toml", "--out", "o"},
           {"run", "small.toml", "--out", "o", "--set", bad + "=1"},
           {"run", "small.toml", "--out", "o", "--set", "graph.kind=" + bad},
           {"run", "small.toml", "--out", "o", "--set", "problem.data=csv:" + bad},
           {"run", "small.toml", "--out", "o", "--set", "problem.data=csv:data.csv"},
           {"run", "small.toml", "--" + bad},
           {bad},
           {"report", bad + "=none"},
           {"report", "out", "--target", bad + "=1"},
           {"verify", bad},
           {"audit", bad},
           {"list", bad},
           {"data", "fetch", bad}}) {
    const Outcome o = ticopd(words);
    EXPECT_NE(o.code, 0) << words.back();
    EXPECT_NE(o.code, 70) << o.err;
    EXPECT_NE(o.err, "");
    expect_clean(o);
  }
}

TEST_F(ObeyedText, NamesOfFoldersAreCleanInResults) {
  const std::string bad = "x" + escape;
  const Outcome o = ticopd({"run", "small.toml", "--out", bad});
  expect_clean(o);
  ASSERT_EQ(o.code, 0) << o.err;
  expect_clean(ticopd({"report", bad}));
  expect_clean(ticopd({"verify", bad}));
}

TEST_F(ObeyedText, SpreadsheetsFindNoFormulaInTheSummary) {
  const std::vector<std::string> labels{"=1+1",  "+1",   "-1",         "@SUM(A1)", "\\t=1",
                                        "\\r=1", "=a,b", "=\\\"a\\\"", "'=1"};
  std::string toml = small_problem;
  for (const std::string& label : labels) toml += "[[run]]\nlabel = \"" + label + "\"\n";
  write("many.toml", toml);
  const Outcome o = ticopd({"compare", "many.toml", "--out", "out", "--quiet"});
  ASSERT_EQ(o.code, 0) << o.err;
  const auto lines = lines_of(read_text(folder_ / "out/summary.csv"));
  ASSERT_EQ(lines.size(), labels.size() + 1);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    // The first cell, as a spreadsheet reads it.
    const std::string& line = lines[i];
    const std::string cell = line[0] == '"' ? line.substr(1) : line;
    EXPECT_EQ(std::string("=+-@\t\r").find(cell[0]), std::string::npos) << line;
  }
  // Numbers stay numbers: the second line has no apostrophe but in its texts.
  EXPECT_FALSE(contains(lines[0], "'"));
}

}  // namespace
}  // namespace ticopd
