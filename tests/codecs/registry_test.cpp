#include <gtest/gtest.h>

#include <set>

#include "rows.hpp"
#include "ticopd/error.hpp"

namespace ticopd::testing {
namespace {

// What a config error says, in both precisions.
std::string complaint(const CodecOptions& o) {
  const auto say = [&](auto make) -> std::string {
    try {
      make(o);
    } catch (const ConfigError& e) {
      EXPECT_EQ(e.exit_code(), 78);
      return e.what();
    }
    return "";
  };
  const std::string text = say([](const CodecOptions& x) { return make_codec<float>(x); });
  EXPECT_EQ(say([](const CodecOptions& x) { return make_codec<double>(x); }), text);
  return text;
}

TEST(CodecTable, MakesEveryKindItLists) {
  std::set<std::string_view> kinds;
  for (const CodecInfo& info : codec_table()) {
    CodecOptions o = options(std::string(info.kind));
    if (info.kind == "top_k" || info.kind == "rand_k") o.k = 1;
    EXPECT_EQ(complaint(o), "") << info.kind;
    EXPECT_FALSE(info.summary.empty());
    kinds.insert(info.kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string_view>{"identity", "qsgd", "top_k", "rand_k", "sign"}));
}

TEST(CodecTable, NamesTheNearestKind) {
  EXPECT_EQ(complaint(options("qsdg")),
            "codec.kind = \"qsdg\": allowed are identity, qsgd, top_k, rand_k, sign; "
            "did you mean \"qsgd\"?");
  EXPECT_EQ(complaint(options("zip and encrypt")),
            "codec.kind = \"zip and encrypt\": allowed are identity, qsgd, top_k, rand_k, sign");
}

TEST(CodecTable, RefusesBitsOutsideOneToSixteen) {
  for (const int bits : {-8, 0, 17, 32, 64})
    EXPECT_EQ(complaint(qsgd(bits)),
              "codec.bits = " + std::to_string(bits) + ": allowed are 1, 2, ..., 16");
  for (int bits = 1; bits <= 16; ++bits) EXPECT_EQ(complaint(qsgd(bits)), "");
}

TEST(CodecTable, WantsExactlyOneOfKAndFraction) {
  for (const std::string kind : {"top_k", "rand_k"}) {
    EXPECT_EQ(complaint(options(kind)),
              "codec.k or codec.fraction: " + kind + " needs one of them");
    CodecOptions both = keep(kind, 3);
    both.fraction = 0.5;
    EXPECT_EQ(complaint(both),
              "codec.k = 3 and codec.fraction = 0.5: " + kind + " takes one of them, not both");
    EXPECT_EQ(complaint(keep(kind, 0)), "codec.k = 0: allowed are 1, 2, 3, ...");
    EXPECT_EQ(complaint(keep_share(kind, 1.5)),
              "codec.fraction = 1.5: allowed is 0 < fraction <= 1");
    EXPECT_EQ(complaint(keep_share(kind, 0)), "codec.fraction = 0: allowed is 0 < fraction <= 1");
    EXPECT_EQ(complaint(keep_share(kind, -0.1)),
              "codec.fraction = -0.1: allowed is 0 < fraction <= 1");
    EXPECT_NE(complaint(keep_share(kind, std::nan(""))), "");
    EXPECT_EQ(complaint(keep_share(kind, 1)), "");
  }
}

TEST(CodecTable, IgnoresTheOptionsOfOtherKinds) {
  CodecOptions o = options("identity");
  o.bits = 99;
  o.k = 0;
  EXPECT_EQ(complaint(o), "");
}

}  // namespace
}  // namespace ticopd::testing
