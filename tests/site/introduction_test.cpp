// Two sites find out if they follow one roster, and each can say what differs.
#include "ticopd/site/introduction.hpp"

#include <gtest/gtest.h>

namespace ticopd {
namespace {

SiteNames site(std::uint32_t version, std::uint64_t network = 7, std::uint64_t bytes = 1) {
  return {.names = {"a", "b"},
          .own = 0,
          .network = network,
          .roster = {.owner = 3, .bytes = bytes + version, .version = version, .epoch = 1},
          .signed_roster = Bytes(5)};
}
Message from(const SiteNames& s, MessageType type = MessageType::have) {
  return {.type = type, .network = s.network, .roster = s.roster};
}

TEST(Introduction, SitesOfOneRosterHaveNothingToSay) {
  Introduction b("b");
  EXPECT_TRUE(b.fits(from(site(1)), site(1)));
  EXPECT_EQ(b.difference(), "");
  EXPECT_FALSE(b.next(site(1), 0));
}

TEST(Introduction, TheOlderRosterIsAnsweredWithOursOnceASecond) {
  Introduction b("b");
  EXPECT_TRUE(b.fits(from(site(1)), site(2))) << "the same run";
  const auto answer = b.next(site(2), 0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->type, MessageType::roster);
  EXPECT_EQ(answer->body, site(2).signed_roster);
  b.fits(from(site(1)), site(2));
  EXPECT_FALSE(b.next(site(2), one_second / 2));
  EXPECT_TRUE(b.next(site(2), one_second));
}

TEST(Introduction, TheNewerRosterIsAskedFor) {
  Introduction b("b");
  EXPECT_FALSE(b.fits(from(site(2, 8)), site(1))) << "another run";
  EXPECT_NE(b.difference().find("version 2"), std::string::npos);
  const auto answer = b.next(site(1), 0);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->type, MessageType::differs);
}

TEST(Introduction, WhatDiffersIsSaid) {
  Introduction b("b");
  EXPECT_FALSE(b.fits(from(site(1, 7, 9)), site(1)));
  EXPECT_NE(b.difference().find("another roster of version 1"), std::string::npos);
  EXPECT_FALSE(b.fits(from(site(1, 8)), site(1)));
  EXPECT_NE(b.difference().find("another run"), std::string::npos);
  SiteNames stranger = site(1);
  stranger.roster.owner = 4;
  EXPECT_FALSE(b.fits(from(stranger), site(1)));
  EXPECT_NE(b.difference().find("another network"), std::string::npos);
  b.other_versions({.protocol = 9, .frames = 1});
  EXPECT_NE(b.difference().find("version 9 of the protocol"), std::string::npos);
  EXPECT_TRUE(b.fits(from(site(1)), site(1)));
  EXPECT_EQ(b.difference(), "") << "it was mended";
}

// Two sites that differ must not answer each other's answers for ever.
TEST(Introduction, AnAnswerIsNotAnswered) {
  for (const SiteNames& other : {site(1, 8), site(1, 7, 9)}) {
    Introduction b("b");
    b.fits(from(other, MessageType::differs), site(1));
    EXPECT_FALSE(b.next(site(1), 0));
  }
}

}  // namespace
}  // namespace ticopd
