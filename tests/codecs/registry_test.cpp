#include <gtest/gtest.h>

#include <set>

#include "fuzz/choose_codec.hpp"
#include "rows.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/error.hpp"

namespace ticopd::testing {
namespace {

// The message of the config error, which must be the same in both precisions; "" if there is none.
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
    CodecOptions o = options(std::string(info.name));
    if (info.takes("k")) o.k = 1;
    EXPECT_EQ(complaint(o), "") << info.name;
    EXPECT_FALSE(info.summary.empty()) << info.name;
    EXPECT_TRUE(kinds.insert(info.name).second) << info.name << " is there twice";
  }
}

TEST(CodecTable, EveryKindIsTestedByTheTestsOfEveryCodec) {
  std::set<std::string> tested;
  for (const CodecOptions& o : every_codec()) tested.insert(o.kind);
  for (const CodecInfo& info : codec_table())
    EXPECT_TRUE(tested.contains(std::string(info.name)))
        << info.name << " is missing from every_codec() of tests/codecs/rows.hpp: nothing tests "
        << "its round trip, its sizes, or what it refuses";
}

TEST(CodecTable, EveryKindIsFuzzed) {
  std::set<std::string_view> fuzzed, known;
  for (const FuzzedCodec& codec : fuzzed_codecs)
    EXPECT_TRUE(!codec.then.empty() || fuzzed.insert(codec.kind).second)
        << codec.kind << " has two numbers";
  for (const CodecInfo& info : codec_table()) {
    known.insert(info.name);
    EXPECT_TRUE(fuzzed.contains(info.name))
        << info.name << " has no number: add it at the end of fuzzed_codecs of "
        << "fuzz/choose_codec.hpp, and write its inputs with make_corpus fuzz/corpus";
  }
  for (const FuzzedCodec& codec : fuzzed_codecs)
    EXPECT_TRUE(known.contains(codec.kind)) << codec.kind << " is no codec any more";
}

TEST(CodecTable, NamesTheNearestKind) {
  std::string all;
  for (const CodecInfo& info : codec_table())
    all += (all.empty() ? "" : ", ") + std::string(info.name);
  EXPECT_EQ(complaint(options("qsdg")),
            "codec.kind = \"qsdg\": allowed are " + all + "; did you mean \"qsgd\"?");
  EXPECT_EQ(complaint(options("zip and encrypt")),
            "codec.kind = \"zip and encrypt\": allowed are " + all);
}

TEST(CodecTable, RejectsOptionsOutOfRange) {
  const double nan = std::nan("");
  for (const double p : {0.0, -0.5, 1.5, nan}) EXPECT_NE(complaint(gossip(p)), "") << p;
  EXPECT_EQ(complaint(gossip(2)), "codec.p = 2: allowed is a number above 0, at most 1");
  for (const double t : {-0.1, 1.1, nan}) EXPECT_NE(complaint(threshold(t)), "") << t;
  EXPECT_EQ(complaint(threshold(2)), "codec.threshold = 2: allowed is a number from 0 to 1");
  for (const double omega : {-1.0, 1e7, nan}) EXPECT_NE(complaint(adaptive(omega, 1)), "") << omega;
  for (const double step : {0.0, -1.0, 1e31, nan}) EXPECT_NE(complaint(adaptive(0.1, step)), "");
  for (const int bits : {-1, 0, 17}) EXPECT_NE(complaint(grid(bits)), "") << bits;
  for (const double r0 : {0.0, -1.0, 1e38, nan}) EXPECT_NE(complaint(grid(4, r0)), "") << r0;
  for (const double kappa : {0.0, 1.01, nan}) EXPECT_NE(complaint(grid(4, 1, kappa)), "") << kappa;
  EXPECT_EQ(complaint(followed(keep("top_k", 3), "rand_k")),
            "codec.then = \"rand_k\": allowed are qsgd, sign, natural, norm_sign, infinity");
  EXPECT_EQ(complaint(followed(threshold(0.1), "qsgd", 17)),
            "codec.bits = 17: allowed is a whole number from 1 to 16");
}

TEST(CodecTable, RejectsBitsOutsideOneToSixteen) {
  for (const int bits : {-8, 0, 17, 32, 64})
    EXPECT_EQ(complaint(qsgd(bits)),
              "codec.bits = " + std::to_string(bits) + ": allowed is a whole number from 1 to 16");
  for (int bits = 1; bits <= 16; ++bits) EXPECT_EQ(complaint(qsgd(bits)), "");
}

TEST(CodecTable, RequiresExactlyOneOfKAndFraction) {
  for (const std::string kind : {"top_k", "rand_k"}) {
    EXPECT_EQ(complaint(options(kind)),
              "codec.k or codec.fraction: " + kind + " needs one of them");
    CodecOptions both = keep(kind, 3);
    both.fraction = 0.5;
    EXPECT_EQ(complaint(both),
              "codec.k = 3 and codec.fraction = 0.5: " + kind + " takes one of them, not both");
    EXPECT_EQ(complaint(keep(kind, 0)),
              "codec.k = 0: allowed is a whole number from 1 to 2147483647");
    EXPECT_EQ(complaint(keep_share(kind, 1.5)),
              "codec.fraction = 1.5: allowed is a number above 0, at most 1");
    EXPECT_EQ(complaint(keep_share(kind, 0)),
              "codec.fraction = 0: allowed is a number above 0, at most 1");
    EXPECT_EQ(complaint(keep_share(kind, -0.1)),
              "codec.fraction = -0.1: allowed is a number above 0, at most 1");
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
