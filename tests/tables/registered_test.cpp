// Entries that a program adds at run time are seen by the config reader, its errors, the schema and
// whoever makes the thing.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ticopd/codecs/identity.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/source.hpp"
#include "ticopd/data/synthetic.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/keys.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/schema.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/objectives/softmax.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

std::string complaint(const std::string& toml) {
  try {
    Config::parse(toml, ".");
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

json words_in_schema(const std::string& table, const std::string& key) {
  return config_schema()["$defs"][table]["properties"][key]["enum"];
}

bool contains(const json& words, const std::string& word) {
  return std::ranges::any_of(words, [&](const json& w) { return w == word; });
}

TEST(RegisteredCodec, IsReadMadeListedAndInTheSchema) {
  CodecInfo info = codec_info<Identity>();
  info.name = "shouting";
  info.options = {"volume"};
  codec_options_table().add(
      own_option<CodecOptions>("volume", domain::whole(1, 11), std::int64_t{5}, "how loud"));
  codec_table().add(info);
  EXPECT_THROW(codec_table().add(info), ConfigError);

  const Config config = Config::parse("[codec]\nkind = \"shouting\"\nvolume = 11", ".");
  const CodecOptions options = codec_options(config);
  EXPECT_EQ(own_value<std::int64_t>(options, "volume"), 11);
  EXPECT_EQ(own_value<std::int64_t>({}, "volume"), 5);
  EXPECT_NE(make_codec<float>(options), nullptr);
  EXPECT_EQ(Config::parse("", ".").get<int>("codec.volume"), 5);
  EXPECT_TRUE(has(complaint("[codec]\nkind = \"shoting\""), "did you mean \"shouting\"?"));
  EXPECT_EQ(complaint("[codec]\nvolume = 12"),
            "codec.volume = 12: allowed is a whole number from 1 to 11");
  EXPECT_TRUE(has(complaint("[codec]\nvolum = 12"), "did you mean \"codec.volume\"?"));
  CodecOptions loud = options;
  loud.own["volume"] = std::int64_t{12};
  EXPECT_THROW(make_codec<double>(loud), ConfigError);
  EXPECT_TRUE(contains(words_in_schema("codec", "kind"), "shouting"));
  EXPECT_EQ(config_schema()["$defs"]["codec"]["properties"]["volume"]["maximum"], 11);
}

TEST(RegisteredGraph, IsReadMadeAndInTheSchema) {
  graph_table().add(
      {"lone_star", {}, "a star by another name", [](const GraphOptions& o, std::uint64_t) {
         return star(o.agents);
       }});
  const Config config = Config::parse("[graph]\nkind = \"lone_star\"\nagents = 6", ".");
  EXPECT_EQ(make_graph(graph_options(config), 1).degree(0), 5);
  EXPECT_TRUE(contains(words_in_schema("graph", "kind"), "lone_star"));
  EXPECT_TRUE(has(complaint("[graph]\nkind = \"lonestar\""), "did you mean \"lone_star\"?"));
}

TEST(RegisteredObjective, IsReadMadeAndInTheSchema) {
  objective_table().add({.name = "soft",
                         .labels = Labels::classes,
                         .init = "zero",
                         .summary = "softmax that starts at zero",
                         .options = {},
                         .make_float = Softmax<float>::make,
                         .make_double = Softmax<double>::make});
  const Config config = Config::parse("[problem]\nobjective = \"soft\"", ".");
  const Dataset<float> data(2, 1, std::vector<float>{1, 2}, {0, 1});
  EXPECT_EQ(make_objective<float>(objective_options(config), {data}, {}, 2)->dimension(), 4u);
  EXPECT_TRUE(contains(words_in_schema("problem", "objective"), "soft"));
}

TEST(RegisteredDataFormat, IsOpenedAndInTheSchema) {
  data_table().add({"coin",
                    "",
                    {"samples"},
                    "two classes",
                    [](const std::filesystem::path&, const DataOptions& o) {
                      return synthetic_classes_source<float>(o.samples, 2, 2, o.seed);
                    },
                    [](const std::filesystem::path&, const DataOptions& o) {
                      return synthetic_classes_source<double>(o.samples, 2, 2, o.seed);
                    }});
  const Config config = Config::parse("[problem]\ndata = \"coin\"\nsamples = 8", ".");
  const TrainTest<float> made = load<float>(data_options(config));
  EXPECT_EQ(made.train.samples(), 8u);
  EXPECT_EQ(made.classes, 2);
  const std::string pattern = config_schema()["$defs"]["problem"]["properties"]["data"]["pattern"];
  EXPECT_TRUE(has(pattern, "coin")) << pattern;
}

TEST(RegisteredTransport, IsAcceptedInAConfig) {
  transport_table().add({"pigeons", TransportInfo::Ranks::processes, "slow, wide"});
  EXPECT_EQ(complaint("[network]\ntransport = \"pigeons\""), "");
  EXPECT_TRUE(contains(words_in_schema("network", "transport"), "pigeons"));
}

TEST(RegisteredKey, HasItsDefaultItsCheckAndItsTable) {
  plain_keys().add({"weather.rain", domain::number(0, 1), 0.25, "the chance of rain"});
  EXPECT_EQ(Config::parse("", ".").get<double>("weather.rain"), 0.25);
  EXPECT_EQ(complaint("[weather]\nrain = 2"), "weather.rain = 2: allowed is a number from 0 to 1");
  EXPECT_TRUE(has(complaint("[weather]\nrainn = 1"), "did you mean \"weather.rain\"?"));
  EXPECT_EQ(config_schema()["$defs"]["weather"]["properties"]["rain"]["default"], 0.25);
  EXPECT_THROW(plain_keys().add({"weather.rain", domain::text(), {}, ""}), ConfigError);
}

}  // namespace
}  // namespace ticopd
