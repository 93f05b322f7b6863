// A config written as TOML and read again is the same config.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ticopd/experiment/config.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

TEST(Toml, RoundTripsEveryValueExactly) {
  const json tree = {
      {"name", "quotes \" and \\ and \n lines, \u00fc"},
      {"seed", 18},
      {"tiny", 1e-300},
      {"third", 1.0 / 3},
      {"whole", 1.0},
      {"yes", true},
      {"problem", {{"hidden", {200, 100}}, {"l2", 0.1}}},
      {"algorithm", {{"alpha", {{"schedule", "inverse"}, {"c", 0.1}, {"t0", 10}}}}},
      {"run",
       {{{"label", "a"}, {"codec", {{"bits", 4}}}}, {{"label", "b"}, {"codec", {{"bits", 8}}}}}},
  };
  const json back = toml_to_json(json_to_toml(tree), "again");
  EXPECT_EQ(back, tree) << json_to_toml(tree);
  EXPECT_TRUE(back["whole"].is_number_float()) << "1.0 is not 1";
}

TEST(Toml, RoundTripsControlCharacters) {
  std::string all;
  for (char c = 0; c < 0x20; ++c) all += c;
  const json tree = {{"name", all + "\x7f\u0085"}, {"a\x7f", 1}};
  EXPECT_EQ(toml_to_json(json_to_toml(tree), "again"), tree) << json_to_toml(tree);
}

TEST(Toml, RoundTripsAResolvedConfig) {
  const Config config = Config::parse("[algorithm]\nname = \"dgd\"\neta = 0.1\n", ".");
  const Config again = Config::parse(json_to_toml(config.tree()), ".");
  EXPECT_EQ(again.tree(), config.tree());
}

TEST(Toml, OmitsNullValues) {
  EXPECT_EQ(toml_to_json(json_to_toml({{"a", nullptr}, {"b", 1}}), "x"), json({{"b", 1}}));
}

}  // namespace
}  // namespace ticopd
