// Reads run folders back, and names the error of damaged ones.
#include "ticopd/report/series.hpp"

#include <cmath>

#include "report/folders.hpp"
#include "ticopd/codecs/identity.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

using ReadSeries = Folders;

TEST_F(ReadSeries, ReadsEveryLoggedValue) {
  std::vector<Metrics> logged;
  const Config config = Config::parse(
      "iterations = 9\nname = \"mine\"\n[problem]\nobjective = \"softmax\"\ndata = \"synthetic\"\n"
      "samples = 60\nfeatures = 4\nclasses = 3\npartition = \"iid\"\n[graph]\nagents = 3\n"
      "[algorithm]\nname = \"dgd\"\neta = 0.1\n",
      ".");
  RunOptions options;
  options.prepare.threads = 1;
  options.out = base_ / "run";
  options.on_log = [&](const Metrics& m) { logged.push_back(m); };
  run_experiment(config, options);
  const Series series = read_series(base_ / "run");
  EXPECT_EQ(series.label, "mine");
  EXPECT_EQ(series.algorithm(), "dgd");
  EXPECT_EQ(series.codec(), "uncompressed");
  ASSERT_EQ(series.rows(), logged.size());
  for (std::size_t r = 0; r < logged.size(); ++r) {
    EXPECT_EQ(series.column("iteration")[r], logged[r].iteration);
    EXPECT_EQ(series.column("bits_link")[r], logged[r].bits_link);
    EXPECT_EQ(series.column("loss_max")[r], logged[r].loss_max);
    EXPECT_EQ(series.column("consensus")[r], logged[r].consensus);
    EXPECT_EQ(series.column("accuracy_min")[r], logged[r].accuracy_min);
    EXPECT_EQ(series.column("dual_sum")[r], std::nullopt);  // this method has no duals
  }
  EXPECT_EQ(series.rate(), 32.0);  // plain floats without a header
}

TEST_F(ReadSeries, DistinguishesNanAndInfinityFromEmptyCells) {
  const Series s = read_series(
      made_up("run", "a", {{"0", "2.5", ""}, {"1", "nan", "0.5"}, {"2", "-inf", "nan"}}));
  EXPECT_EQ(s.column("loss_max")[0], 2.5);
  EXPECT_TRUE(std::isnan(s.column("loss_max")[1].value()));
  EXPECT_EQ(s.column("loss_max")[2], -INFINITY);
  EXPECT_FALSE(s.column("accuracy_min")[0].has_value());
  EXPECT_TRUE(std::isnan(s.column("accuracy_min")[2].value()));
}

TEST_F(ReadSeries, RejectsAnEmptyFolder) {
  std::filesystem::create_directory(base_ / "empty");
  expect_refused<FormatError>([&] { read_series(base_ / "empty"); },
                              {"empty", "is not a ticopd run: there is no run.json"});
  expect_refused<FormatError>([&] { read_series(base_ / "nowhere"); },
                              {"nowhere", "there is no such folder"});
  write("file", "x");
  expect_refused<FormatError>([&] { read_series(base_ / "file"); }, {"file", "is a file"});
  write("cut/metrics.csv", "");
  expect_refused<FormatError>([&] { read_series(base_ / "cut"); }, {"cut", "has not ended"});
}

TEST_F(ReadSeries, NamesTheLineOfADamagedTable) {
  const auto folder = made_up("run", "a", {{"0", "2", "0.1"}, {"1", "1", "0.2"}});
  const std::string whole = read(folder / "metrics.csv");
  const auto refused = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    write("run/metrics.csv", bytes);
    expect_refused<FormatError>([&] { read_series(folder); }, parts);
  };
  refused(whole.substr(0, whole.size() - 30), {"metrics.csv:3", "cells, expected 14", "cut off"});
  refused(whole.substr(0, whole.size() - 1), {"metrics.csv:3", "ends in the middle of a line"});
  refused(whole + "2,1,1,1,x1,1,1,,1,1,,,,0.1\n", {"metrics.csv:4", "loss_max = \"x1\""});
  refused(whole + "1,1,1,1,1,1,1,,1,1,,,,0.1\n", {"metrics.csv:4", "1 comes after 1"});
  refused(whole + "2.5,1,1,1,1,1,1,,1,1,,,,0.1\n", {"metrics.csv:4", "iteration"});
  refused(whole + ",1,1,1,1,1,1,,1,1,,,,0.1\n", {"metrics.csv:4", "iteration"});
  refused(whole + "\n", {"metrics.csv:4", "1 cells"});
  refused("time,loss\n1,2\n", {"metrics.csv:1", "expected the header iteration,bits_paper"});
  refused("", {"metrics.csv:1", "header"});
  refused(whole.substr(0, whole.find('\n') + 1), {"metrics.csv:1", "no row"});
  write("run/metrics.csv", whole);
  EXPECT_NO_THROW(read_series(folder));
}

TEST_F(ReadSeries, RejectsADamagedSummary) {
  const auto folder = made_up("run", "a", {{"0", "2", "0.1"}});
  write("run/run.json", "{\"status\": \"fini");
  expect_refused<FormatError>([&] { read_series(folder); }, {"run.json"});
}

TEST_F(ReadSeries, RateIsTheBitsPerRoundAndCoordinate) {
  EXPECT_EQ(read_series(made_up("a", "a", {{"0", "1", ""}, {"8", "1", ""}})).rate(), 10.0);
  EXPECT_EQ(read_series(made_up("b", "b", {{"0", "1", ""}})).rate(), std::nullopt);
}

std::string described(const char* codec) {
  Series series;
  series.summary["config"]["codec"] = nlohmann::json::parse(codec);
  return series.codec();
}

TEST(Series, DescribesACodecByItsKindAndTheOptionsItTakes) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"kind": "identity"})", "uncompressed"},
      {R"({})", "uncompressed"},
      {R"({"kind": "qsgd", "bits": 8, "bucket": 0, "scaled": true, "coding": "fixed"})",
       "qsgd, 8 bits"},
      {R"({"kind": "qsgd", "bits": 4, "bucket": 512, "scaled": false, "coding": "entropy"})",
       "qsgd, 4 bits, buckets of 512, not scaled, entropy"},
      {R"({"kind": "infinity", "bits": 3, "bucket": 64})", "infinity, 3 bits, buckets of 64"},
      {R"({"kind": "grid", "bits": 6, "r0": 4.0, "kappa": 0.9})", "grid, 6 bits"},
      {R"({"kind": "sign", "bucket": 0})", "sign"},
      {R"({"kind": "norm_sign", "bucket": 128})", "norm_sign, buckets of 128"},
      {R"({"kind": "natural", "coding": "elias"})", "natural, elias"},
      {R"({"kind": "top_k", "k": 5})", "top_k, k = 5"},
      {R"({"kind": "top_k", "k": 123456, "coding": "entropy"})", "top_k, k = 123456, entropy"},
      {R"({"kind": "top_k", "fraction": 0.02, "then": "qsgd", "bits": 6, "coding": "entropy"})",
       "top_k, 2 %, then qsgd, 6 bits, entropy"},
      {R"({"kind": "rand_k", "fraction": 0.125, "unbiased": true})", "rand_k, 12.5 %, unbiased"},
      {R"({"kind": "rand_k", "k": 3, "then": "natural", "coding": "entropy"})",
       "rand_k, k = 3, then natural, entropy"},
      {R"({"kind": "threshold", "threshold": 0.25, "then": "sign", "bucket": 32,
           "coding": "entropy"})",
       "threshold, 0.25, then sign, buckets of 32, entropy"},
      {R"({"kind": "random_gossip", "p": 0.5})", "random_gossip, p = 0.5"},
      {R"({"kind": "random_gossip", "p": 1})", "random_gossip, p = 1"},
      {R"({"kind": "adaptive", "omega": 0.25, "step": 0.001})", "adaptive, omega 0.25, step 0.001"},
      // As a program of another version or a hand may have written it.
      {R"({"kind": "hum", "bucket": 16, "coding": "elias"})", "hum, buckets of 16, elias"},
      {R"({"kind": "sign", "bucket": "many"})", "sign"},
      {R"({"kind": 7})", "?"},
  };
  for (const auto& [codec, words] : cases) EXPECT_EQ(described(codec), words) << codec;
}

TEST(Series, DescribesACodecThatTheProgramRegistered) {
  codec_options_table().add(
      own_option<CodecOptions>("volume", domain::whole(1, 11), std::int64_t{5}, "how loud")
          .said("volume {}"));
  CodecInfo info = codec_info<Identity>();
  info.name = "shouting";
  info.in_words = "loud";
  info.options = {"volume", "coding"};
  info.may_follow = true;
  codec_table().add(info);
  EXPECT_EQ(described(R"({"kind": "shouting", "volume": 11})"), "loud, volume 11");
  EXPECT_EQ(described(R"({"kind": "shouting"})"), "loud, volume 5");
  EXPECT_EQ(described(R"({"kind": "top_k", "k": 2, "then": "shouting", "coding": "entropy"})"),
            "top_k, k = 2, then loud, volume 5, entropy");
}

TEST_F(ReadSeries, ReadsRunsInTheOrderOfTheirComparison) {
  made_up("all/z", "config's name", {{"0", "1", ""}});
  made_up("all/a", "a", {{"0", "1", ""}});
  write("all/compare.json",
        R"({"title": "Mine", "command": "ticopd compare x.toml",
            "targets": [{"metric": "loss_max", "value": 0.5}],
            "runs": [{"label": "first", "folder": "z"}, {"label": "second", "folder": "a"},
                     {"label": "third", "folder": "b"}]})");
  const std::string words[] = {(base_ / "all").string()};
  const Collection all = read_folders(words);
  ASSERT_EQ(all.runs.size(), 2u);
  EXPECT_EQ(all.runs[0].label, "first");
  EXPECT_EQ(all.runs[1].label, "second");
  EXPECT_EQ(all.options.title, "Mine");
  EXPECT_EQ(all.options.command, "ticopd compare x.toml");
  ASSERT_EQ(all.options.targets.size(), 1u);
  EXPECT_EQ(all.options.targets[0].value, 0.5);
  ASSERT_EQ(all.missing.size(), 1u);
  EXPECT_NE(all.missing[0].find("third"), std::string::npos);
}

TEST_F(ReadSeries, RejectsADamagedComparison) {
  const std::string words[] = {(base_ / "all").string()};
  for (const char* text : {"[", "[]", "{}", R"({"runs": [{"label": "a"}]})",
                           R"({"runs": [], "targets": [{"metric": "loss_max"}]})"}) {
    write("all/compare.json", text);
    expect_refused<FormatError>([&] { read_folders(words); }, {"compare.json"});
  }
  write("all/compare.json", R"({"runs": []})");
  expect_refused<FormatError>([&] { read_folders(words); }, {"no run to report"});
}

TEST_F(ReadSeries, AcceptsALabelBeforeTheFolder) {
  const std::string a = made_up("a", "same", {{"0", "1", ""}});
  const std::string b = made_up("b=c", "same", {{"0", "1", ""}});
  const std::vector<std::string> words = {"other=" + a, b};
  const Collection all = read_folders(words);
  EXPECT_EQ(all.runs[0].label, "other");
  EXPECT_EQ(all.runs[1].label, "same");
  const std::vector<std::string> both = {"x=y=" + a, "z=" + b};
  EXPECT_EQ(read_folders(both).runs[0].label, "x=y");
  EXPECT_EQ(read_folders(both).runs[1].label, "z");
}

TEST_F(ReadSeries, RejectsTheSameLabelTwice) {
  const std::vector<std::string> words = {made_up("a", "same", {{"0", "1", ""}}),
                                          made_up("b", "same", {{"0", "1", ""}})};
  expect_refused<ConfigError>([&] { read_folders(words); }, {"\"same\"", words[0], words[1]});
  const std::vector<Series> runs = {read_series(words[0]), read_series(words[1])};
  expect_refused<ConfigError>([&] { write_report(base_ / "out", runs, {}); },
                              {"\"same\"", words[0], words[1]});
  EXPECT_FALSE(std::filesystem::exists(base_ / "out"));
}

TEST(Metric, UnknownNameIsRejectedWithTheNearest) {
  expect_refused<ConfigError>([] { require_metric("tune.metric", "acuracy_min"); },
                              {"tune.metric", "acuracy_min", "did you mean \"accuracy_min\"?"});
  for (const char* word : {"iteration", "seconds", "bits_payload", ""})
    EXPECT_THROW(require_metric("target", word), ConfigError) << word;
  for (const std::string_view word : metric_names()) EXPECT_NO_THROW(require_metric("", word));
  EXPECT_EQ(metric_names().size(), 11u);
  EXPECT_TRUE(higher_is_better("accuracy_mean"));
  EXPECT_FALSE(higher_is_better("consensus"));
}

}  // namespace
}  // namespace ticopd
