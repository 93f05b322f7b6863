// The session between two sites, by hand: what it takes, refuses and sends again.
#include "ticopd/site/session.hpp"

#include <gtest/gtest.h>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr std::uint64_t network = 7;

Bytes frame(int number) {
  return Bytes(static_cast<std::size_t>(10 + number), static_cast<std::byte>(number));
}

// Two sites and the wire between them.
struct Pair {
  Session a{"b", network, 1}, b{"a", network, 2};
  Time now = 0;

  Pair() {
    a.use();
    b.use();
  }
  // Carries messages both ways until nothing is due; `lost`: the first so many of a vanish.
  void talk(int lost = 0) {
    for (int step = 0; step < 400; ++step, now += one_second / 100) {
      while (const auto m = a.next(now))
        if (lost-- <= 0) b.take(*m, now);
      while (const auto m = b.next(now)) a.take(*m, now);
    }
  }
};

TEST(Session, FramesArriveOnceAndInOrder) {
  Pair p;
  for (int i = 1; i <= 5; ++i) p.a.push(3, frame(i));
  p.talk();
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(p.b.pop(3), frame(i));
  EXPECT_FALSE(p.b.pop(3));
  EXPECT_FALSE(p.b.pop(4)) << "another channel";
}

TEST(Session, LostMessagesAreSentAgain) {
  for (int lost = 1; lost < 12; ++lost) {
    Pair p;
    for (int i = 1; i <= 5; ++i) p.a.push(0, frame(i));
    p.talk(lost);
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(p.b.pop(0), frame(i)) << lost;
  }
}

TEST(Session, AFrameInPiecesArrivesWhole) {
  Pair p;
  SessionLimits limits;
  limits.piece = 7;
  Session a("b", network, 1, limits);
  a.push(0, frame(100));
  for (int step = 0; step < 400; ++step, p.now += one_second / 100) {
    while (const auto m = a.next(p.now)) p.b.take(*m, p.now);
    while (const auto m = p.b.next(p.now)) a.take(*m, p.now);
  }
  EXPECT_EQ(p.b.pop(0), frame(100));
}

TEST(Session, FramesAreKeptUntilTheyAreSafe) {
  Pair p;
  p.a.push(0, frame(1));
  p.talk();
  ASSERT_TRUE(p.b.pop(0));
  EXPECT_EQ(p.a.record().outbox.size(), 1u) << "received is not safe";
  EXPECT_FALSE(p.a.confirmed());
  p.b.make_safe(p.b.consumed());
  p.talk();
  EXPECT_TRUE(p.a.record().outbox.empty());
  EXPECT_TRUE(p.a.confirmed());
}

TEST(Session, AProcessThatWasStartedAgainGetsItsFramesAgain) {
  Pair p;
  p.a.push(0, frame(1));
  p.talk();
  ASSERT_TRUE(p.b.pop(0));
  p.b = Session("a", network, 3);  // it had no checkpoint
  p.b.use();
  p.talk();
  EXPECT_EQ(p.b.pop(0), frame(1));
}

TEST(Session, AnOldCopyOfAFolderIsRefused) {
  Pair p;
  p.a.push(0, frame(1));
  p.talk();
  ASSERT_TRUE(p.b.pop(0));
  p.b.make_safe(1);
  p.talk();
  p.b = Session("a", network, 3);
  p.b.use();
  EXPECT_THROW(p.talk(), FormatError);
}

// This process was started again too, and has yet to make the frames that were confirmed.
TEST(Session, AnOldCopyIsRefusedByASiteThatMakesItsFramesAgain) {
  Pair p;
  for (int i = 1; i <= 5; ++i) p.a.push(0, frame(i));
  p.talk();
  for (int i = 1; i <= 2; ++i) ASSERT_TRUE(p.b.pop(0));
  const SessionRecord old = p.b.record();
  for (int i = 3; i <= 5; ++i) ASSERT_TRUE(p.b.pop(0));
  p.b.make_safe(5);
  p.talk();
  p.a = Session("b", network, 3);
  p.a.use();
  p.talk();
  p.b = Session("a", network, 4, {}, old);
  p.b.use();
  EXPECT_THROW(p.talk(), FormatError);
}

TEST(Session, OtherFramesThanBeforeAreRefused) {
  Pair p;
  p.a.push(0, frame(1));
  p.talk();
  p.a = Session("b", network, 3);  // it begins anew, with other data
  p.a.push(0, frame(2));
  EXPECT_THROW(p.talk(), FormatError);
}

TEST(Session, ASiteOfAnotherNetworkIsNotHeard) {
  Pair p;
  p.a = Session("b", network + 1, 1);
  p.a.push(0, frame(1));
  p.talk();
  EXPECT_FALSE(p.b.pop(0));
  EXPECT_FALSE(p.b.connected());
}

TEST(Session, ARecordGoesOnWhereItWas) {
  Pair p;
  p.a.push(0, frame(1));
  p.a.push(0, frame(2));
  const SessionRecord record = p.a.record();
  p.a = Session("b", network, 3, {}, record);
  p.a.push(0, frame(3));
  p.talk();
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(p.b.pop(0), frame(i));
}

// The neighbour says it under its own name.
Message have(std::uint64_t sequence) {
  return {.type = MessageType::have, .network = network, .from = 2, .to = 1, .sequence = sequence};
}

TEST(Session, ANumberBehindEveryStreamIsNotTaken) {
  Pair p;
  p.a.push(0, frame(1));
  p.talk();
  p.a.take(have(~std::uint64_t{0}), p.now);
  p.a.push(0, frame(2));
  p.talk();
  for (int i = 1; i <= 2; ++i) EXPECT_EQ(p.b.pop(0), frame(i));
}

TEST(Session, AFrameThatNobodyReadsIsNoDefectOfThisSite) {
  Pair p;
  p.a.push(9, frame(1));
  p.a.push(0, frame(2));
  p.talk();
  ASSERT_TRUE(p.b.pop(0));
  EXPECT_THROW(p.b.record(), FormatError);
}

TEST(Session, FramesThatNobodyReadsDoNotFillTheMemory) {
  Pair p;
  SessionLimits limits;
  limits.unread = 1000;
  p.b = Session("a", network, 2, limits);
  p.b.use();
  for (int i = 1; i <= 100; ++i) p.a.push(0, frame(i));
  p.talk();
  EXPECT_LE(p.b.unread_bytes(), 1000u);
  for (int i = 1; i <= 100; ++i) {
    p.talk();
    EXPECT_EQ(p.b.pop(0), frame(i));
  }
}

}  // namespace
}  // namespace ticopd
