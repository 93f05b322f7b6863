#include "ticopd/option.hpp"

#include <gtest/gtest.h>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

enum class Shape { round, square };
constexpr std::array<std::string_view, 2> words_of(Shape) {
  return {"round", "square"};
}

struct Options {
  int count = 3;
  bool on = true;
  double size = 0.5;
  std::optional<std::size_t> most = {};
  std::string label = "";
  std::vector<int> layers{4, 5};
  std::vector<double> scales{};
  Shape shape = Shape::square;
  OwnOptions own = {};
};

template <class Use>
std::string complaint(Use use) {
  try {
    use();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(Option, TakesItsDefaultFromTheMember) {
  EXPECT_EQ(option<&Options::count>("count", domain::whole(0, 9), "").value,
            OptionValue(std::int64_t{3}));
  EXPECT_EQ(option<&Options::on>("on", domain::boolean(), "").value, OptionValue(true));
  EXPECT_EQ(option<&Options::size>("size", domain::number(0), "").value, OptionValue(0.5));
  EXPECT_EQ(option<&Options::most>("most", domain::whole(0, 9), "").value, OptionValue());
  EXPECT_EQ(option<&Options::label>("label", domain::text(), "").value, OptionValue());
  EXPECT_EQ(option<&Options::layers>("layers", domain::layer_sizes(1, 9), "").value,
            OptionValue(std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(option<&Options::shape>("shape", domain::word(words_of(Shape{})), "").value,
            OptionValue(std::string("square")));
}

TEST(Option, SetsItsMember) {
  Options o;
  const auto set = [&](const auto& option, const OptionValue& value) {
    option.set(o, option.name, value);
    EXPECT_EQ(option.get(o, option.name), value) << option.name;
  };
  set(option<&Options::count>("count", domain::whole(0, 9), ""), std::int64_t{7});
  set(option<&Options::most>("most", domain::whole(0, 9), ""), std::int64_t{8});
  set(option<&Options::layers>("layers", domain::layer_sizes(1, 9), ""),
      std::vector<std::int64_t>{1});
  set(option<&Options::scales>("scales", domain::numbers(domain::above(0)), ""),
      std::vector<double>{0.5, 2});
  set(option<&Options::shape>("shape", domain::word(words_of(Shape{})), ""), std::string("round"));
  set(own_option<Options>("extra", domain::number(0), 1.0, ""), 2.0);
  EXPECT_EQ(o.count, 7);
  EXPECT_EQ(o.most, 8u);
  EXPECT_EQ(o.layers, std::vector<int>{1});
  EXPECT_EQ(o.shape, Shape::round);
  EXPECT_EQ(std::get<double>(o.own.at("extra")), 2.0);
}

TEST(Domain, RejectsOtherTypesAndValuesOutOfRange) {
  EXPECT_TRUE(domain::whole(1, 16).allows(std::int64_t{16}));
  EXPECT_FALSE(domain::whole(1, 16).allows(std::int64_t{17}));
  EXPECT_FALSE(domain::whole(1, 16).allows(2.0));
  EXPECT_TRUE(domain::number(0, 1).allows(0.0));
  EXPECT_FALSE(domain::above(0, 1).allows(0.0));
  EXPECT_TRUE(domain::above(0, 1).allows(1.0));
  EXPECT_FALSE(domain::number(0).allows(domain::infinity));
  EXPECT_FALSE(domain::number(0).allows(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(domain::whole_or("full", 1).allows(std::string("full")));
  EXPECT_TRUE(domain::whole_or("full", 1).allows(std::int64_t{32}));
  EXPECT_FALSE(domain::whole_or("full", 1).allows(std::string("half")));
  EXPECT_FALSE(domain::layer_sizes(1, 9).allows(std::vector<std::int64_t>{3, 0}));
  const Domain scales = domain::numbers(domain::above(0));
  EXPECT_TRUE(scales.allows(std::vector<double>{0.5, 2}));
  EXPECT_FALSE(scales.allows(std::vector<double>{0.5, 0}));
  EXPECT_FALSE(scales.allows(std::vector<double>{0.5, domain::infinity}));
  EXPECT_FALSE(scales.allows(std::vector<double>{std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(scales.allows(std::vector<double>{}));
  EXPECT_FALSE(scales.allows(std::vector<std::int64_t>{1}));
  EXPECT_FALSE(domain::boolean().allows(std::int64_t{1}));
  EXPECT_FALSE(domain::text().allows(OptionValue()));
}

TEST(Domain, MessageNamesTheAllowedValuesAndTheNearestWord) {
  EXPECT_EQ(complaint([] { refuse_value("a.b", "17", domain::whole(1, 16)); }),
            "a.b = 17: allowed is a whole number from 1 to 16");
  EXPECT_EQ(complaint([] { refuse_value("a.b", "0", domain::above(0, 1)); }),
            "a.b = 0: allowed is a number above 0, at most 1");
  EXPECT_EQ(complaint([] { refuse_value("a.b", "\"squrae\"", domain::word(words_of(Shape{}))); }),
            "a.b = \"squrae\": allowed are round, square; did you mean \"square\"?");
}

TEST(Table, RejectsASecondEntryWithTheSameName) {
  Table<OptionInfo> table{"key", {{"one", domain::text(), {}, ""}}};
  EXPECT_EQ(complaint([&] {
              table.add({"one", domain::boolean(), {}, ""});
            }),
            "key = \"one\": registered twice; an entry needs a name of its own");
  EXPECT_EQ(table.size(), 1u);
  table.add({"two", domain::boolean(), {}, ""});
  EXPECT_EQ(table.at("two").domain.kind, Domain::Kind::boolean);
  EXPECT_EQ(complaint([&] { table.at("twoo"); }),
            "key = \"twoo\": allowed are one, two; did you mean \"two\"?");
}

}  // namespace
}  // namespace ticopd
