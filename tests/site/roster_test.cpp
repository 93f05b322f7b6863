// Rosters: what is refused, and in which words.
#include "ticopd/site/roster.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/signed_roster.hpp"

namespace ticopd {
namespace {

constexpr const char* config = R"(
name = "r"
iterations = 3
[problem]
objective = "softmax"
data = "synthetic"
[graph]
kind = "ring"
agents = 4
[algorithm]
name = "ticopd"
alpha = 0.1
theta = 1
eta = 0.2
)";

Roster whole() {
  Roster r{.config = Config::parse(config, ".")};
  for (int s = 0; s < 4; ++s)
    r.sites.push_back({"site-" + std::to_string(s),
                       {s},
                       "127.0.0.1:" + std::to_string(7000 + s),
                       make_keys(KeyKind::site, "s").public_key});
  return r;
}

Config changed(const std::string& assignment) {
  const std::vector<std::string> set{assignment};
  return Config::parse(config, ".", set);
}

struct Wrong {
  std::function<void(Roster&)> change;
  std::vector<std::string> words;  // that the message must have
};

TEST(Roster, WhatMayFollowIt) {
  const Roster before = whole();
  const auto refused = [&](const std::function<void(Roster&)>& change, const std::string& word) {
    Roster now = before;
    now.version = 2;
    change(now);
    try {
      check_successor(before, now);
      return word.empty();
    } catch (const ConfigError& e) {
      return !word.empty() && std::string(e.what()).find(word) != std::string::npos;
    }
  };
  EXPECT_TRUE(refused([](Roster& r) { r.sites[1].address = "there:1"; }, ""));
  EXPECT_TRUE(refused([](Roster& r) { r.sites[1].key = "another"; }, ""));
  EXPECT_TRUE(refused([](Roster& r) { r.version = 1; }, "version 1"));
  EXPECT_TRUE(refused([](Roster& r) { r.sites.pop_back(); }, "higher epoch"));
  EXPECT_TRUE(
      refused([](Roster& r) { r.config = changed("algorithm.alpha=0.2"); }, "higher epoch"));
  EXPECT_TRUE(refused([](Roster& r) { r.config = changed("name=other"); }, "config.name"));
  EXPECT_TRUE(refused(
      [](Roster& r) {
        r.epoch = 2;
        r.sites.pop_back();
      },
      ""));
  Roster later = before;
  later.epoch = 2;
  Roster back = before;
  back.version = 2;
  EXPECT_THROW(check_successor(later, back), ConfigError);
}

TEST(Roster, ItsPackageComesBackOrIsNone) {
  const Bytes packed = pack({"the roster", "signed"});
  const SignedRoster again = unpack_roster(packed);
  EXPECT_EQ(again.text, "the roster");
  EXPECT_EQ(again.signature, "signed");
  for (std::size_t size = 0; size < 4 + 6; ++size)
    EXPECT_THROW(unpack_roster(std::span(packed).first(size)), FormatError) << size;
}

TEST(Roster, RefusesWhatNoNetworkCanRun) {
  const std::vector<Wrong> all{
      {[](Roster& r) { r.sites[1].name = "site-0"; }, {"two sites", "site-0"}},
      {[](Roster& r) { r.sites[1].agents = {0}; }, {"agent 0", "twice", "site-1"}},
      {[](Roster& r) {
         r.sites[3].agents = {2, 3};
       },
       {"agent 2", "twice"}},
      {[](Roster& r) { r.sites.pop_back(); }, {"agent 3", "no site"}},
      {[](Roster& r) { r.sites[0].agents = {4}; }, {"agent 4", "0 to 3"}},
      {[](Roster& r) { std::swap(r.sites[0], r.sites[1]); }, {"site-1", "agent 0 is next"}},
      {[](Roster& r) { r.sites[2].key = "short"; }, {"site-2", "short", "no public key"}},
      {[](Roster& r) { r.sites[2].key = r.sites[1].key; }, {"site-2", "same key"}},
      {[](Roster& r) { r.sites[2].address = "host"; }, {"site-2", "HOST:PORT"}},
      {[](Roster& r) { r.sites[2].address = "host:0"; }, {"site-2", "65535"}},
      {[](Roster& r) { r.sites[2].address = "host:70000"; }, {"site-2", "65535"}},
      {[](Roster& r) { r.sites[2].address = "::1:80"; }, {"site-2", "HOST:PORT"}},
      {[](Roster& r) { r.sites[2].address = r.sites[1].address; }, {"site-2", "has the address"}},
      {[](Roster& r) { r.sites[1].address = r.sites[2].address = ""; },
       {"site-1", "site-2", "neither has an address"}},
      {[](Roster& r) {
         const std::vector<std::string> set{"graph.kind=edges", "graph.edges=0-1 2-3"};
         r.config = Config::parse(config, ".", set);
       },
       {"connected"}},
      {[](Roster& r) { r.config = changed("network.transport=threads"); }, {"network.transport"}},
      {[](Roster& r) { r.config = changed("log.lyapunov=true"); }, {"log.lyapunov"}},
      {[](Roster& r) { r.config = changed("algorithm.theta=-1"); }, {"theta"}},
  };
  EXPECT_NO_THROW(check_roster(whole()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    Roster r = whole();
    all[i].change(r);
    try {
      check_roster(r);
      ADD_FAILURE() << "case " << i << " was taken";
    } catch (const ConfigError& e) {
      for (const std::string& word : all[i].words)
        EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
}

TEST(Roster, ErrorsNameItsFile) {
  Roster r = whole();
  r.sites[1].name = "../x";
  try {
    check_roster(r, "net/roster.toml");
    ADD_FAILURE() << "was taken";
  } catch (const ConfigError& e) {
    EXPECT_EQ(std::string(e.what()).find("net/roster.toml: site \"../x\": allowed"), 0u)
        << e.what();
  }
}

TEST(Roster, ItsTextComesBack) {
  const Roster r = whole();
  const std::string text = roster_text(r);
  const Roster again = parse_roster(text, "r");
  EXPECT_EQ(roster_text(again), text);
  EXPECT_EQ(again.config.identity(), r.config.identity());
  EXPECT_EQ(again.sites[3].address, "127.0.0.1:7003");
}

TEST(Roster, EveryTruncationIsRefusedOrWhole) {
  const std::string text = roster_text(whole());
  for (std::size_t cut = 0; cut < text.size(); ++cut) try {
      check_roster(parse_roster(text.substr(0, cut), "r"));
    } catch (const Error& e) {
      EXPECT_TRUE(e.exit_code() == 65 || e.exit_code() == 78) << e.what();
    }
}

TEST(Roster, ASignatureOfAnotherOperatorIsNamed) {
  const KeyPair mine = make_keys(KeyKind::owner, "o"), other = make_keys(KeyKind::owner, "p");
  const std::string text = roster_text(whole());
  const std::string good = signature_text(mine.public_key, sign(mine, text));
  EXPECT_NO_THROW(check_signature(text, good, mine.public_key, "r"));
  EXPECT_THROW(check_signature(text, signature_text(other.public_key, sign(other, text)),
                               mine.public_key, "r"),
               ConfigError);
  EXPECT_THROW(check_signature(text, signature_text(mine.public_key, sign(other, text)),
                               mine.public_key, "r"),
               FormatError);
  EXPECT_THROW(check_signature(text + " ", good, mine.public_key, "r"), FormatError);
  for (std::size_t cut = 0; cut + 2 < good.size(); ++cut)
    EXPECT_THROW(check_signature(text, good.substr(0, cut), mine.public_key, "r"), Error);
}

// Each of three operators hands over to the next one.
struct Operators {
  KeyPair first = make_keys(KeyKind::owner, "a"), second = make_keys(KeyKind::owner, "b"),
          third = make_keys(KeyKind::owner, "c");
  std::vector<Successor> both{hand_over(first, second.public_key),
                              hand_over(second, third.public_key)};
  std::vector<Successor> one{both[0]};
};

// The entries as a roster has them.
std::vector<Successor> read(const std::vector<Successor>& entries) {
  std::string text;
  for (const Successor& s : entries) text += successor_text(s);
  return successors_of(toml_table(text, "r"), "r");
}

TEST(Operators, TheLastOneWhoWasNamedSigns) {
  const Operators o;
  EXPECT_EQ(signer_of({}, o.first.public_key, "r"), o.first.public_key);
  EXPECT_EQ(signer_of(read(o.one), o.first.public_key, "r"), o.second.public_key);
  EXPECT_EQ(signer_of(read(o.both), o.first.public_key, "r"), o.third.public_key);
  EXPECT_THROW(signer_of(read(o.one), o.third.public_key, "r"), ConfigError) << "another network";
  Roster r = whole();
  r.operators = o.both;
  EXPECT_EQ(parse_roster(roster_text(r), "r").operators, o.both);
}

TEST(Operators, NobodyNamesOneInTheNameOfAnother) {
  const Operators o;
  EXPECT_THROW(hand_over(o.first, o.first.public_key), ConfigError);
  EXPECT_THROW(read({o.both[1], o.both[0]}), FormatError) << "in another order";
  EXPECT_THROW(read({o.both[0], hand_over(o.first, o.third.public_key)}), FormatError);
  Successor forged = hand_over(o.third, o.second.public_key);
  forged.by = o.first.public_key;
  EXPECT_THROW(read({forged}), FormatError);
  Successor other = o.both[0];
  other.key = o.third.public_key;
  EXPECT_THROW(read({other}), FormatError);
  // The signature of a roster is none of a key, whatever the roster says.
  other.signature = sign(o.first, other.key);
  EXPECT_THROW(read({other}), FormatError);
  for (const char* odd : {"operator = 3", "operator = [3]", "[[operator]]\nkey = 3",
                          "[[operator]]\nkey = \"x\"", "[operator]\nkey = \"x\""})
    EXPECT_THROW(successors_of(toml_table(odd, "r"), "r"), FormatError) << odd;
}

TEST(Operators, OneWhoHasHandedOverSignsNoMore) {
  const Operators o;
  Roster before = whole(), now = whole();
  before.operators = o.one;
  now.version = 2;
  EXPECT_THROW(check_successor(before, now), ConfigError);
  now.operators = {hand_over(o.first, o.third.public_key)};
  EXPECT_THROW(check_successor(before, now), ConfigError) << "another one than before";
  now.operators = o.both;
  EXPECT_NO_THROW(check_successor(before, now));
  EXPECT_TRUE(same_run(before, now)) << "no epoch";
}

TEST(Roster, KeysAndAddressesLeaveTheNetworkAsItIs) {
  const Roster r = whole();
  Roster moved = r;
  moved.version = 2;
  moved.sites[0].address = "elsewhere:1";
  moved.sites[1].key = make_keys(KeyKind::site, "n").public_key;
  EXPECT_EQ(network_number(r, "o"), network_number(moved, "o"));
  EXPECT_NE(network_number(r, "o"), network_number(r, "p"));
  Roster epoch = r;
  epoch.epoch = 2;
  EXPECT_NE(network_number(r, "o"), network_number(epoch, "o"));
  Roster other = r;
  other.config = changed("algorithm.eta=0.3");
  EXPECT_NE(network_number(r, "o"), network_number(other, "o"));
}

}  // namespace
}  // namespace ticopd
