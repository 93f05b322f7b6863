// The MPI transport: the conformance tests, and what only MPI has to do.
#include <sys/wait.h>

#include <thread>

#include "mpi/world.hpp"
#include "network/transport_conformance.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::dense {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Mpi, TransportConformance, MpiRanks);

TEST(MpiTransport, ReceivesExpectedFramesBeforeTheCallToReceive) {
  MpiRanks::run(2, 20, [](Transport& t) {
    const int other = 1 - t.rank();
    Bytes large(2'000'000, static_cast<std::byte>(t.rank() + 1));
    t.expect(other, 3, large.size());
    t.expect(other, 3, large.size());
    barrier(t, 9);
    t.send(other, 3, large);
    t.send(other, 3, Bytes(5));
    // Only the transport's own thread calls MPI now. The frame is too large to arrive without it.
    if (dynamic_cast<MpiTransport&>(t).progresses())
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const double asked_at = seconds_now();
    EXPECT_EQ(t.receive(other, 3).size(), large.size());
    EXPECT_TRUE(t.arrived_at() < asked_at || !dynamic_cast<MpiTransport&>(t).progresses());
    EXPECT_EQ(t.receive(other, 3).size(), 5u);
  });
}

TEST(MpiTransport, RejectsAFrameThatIsTooLongAndContinues) {
  MpiRanks::run(2, 20, [](Transport& t) {
    if (t.rank() == 0) {
      for (const std::size_t length : {100u, 100'001u, 7u, 2'000'000u, 8u})
        t.send(1, 0, Bytes(length, std::byte{1}));
      return;
    }
    t.expect(0, 0, 100);
    t.expect(0, 0, 100'000);
    EXPECT_EQ(t.receive(0, 0, 100).size(), 100u);
    EXPECT_THROW((void)t.receive(0, 0, 100'000), FormatError);
    EXPECT_EQ(t.receive(0, 0, 100).size(), 7u);
    EXPECT_THROW((void)t.receive(0, 0, 1000), FormatError);  // without a call of expect()
    EXPECT_EQ(t.receive(0, 0, 1000).size(), 8u);
  });
}

TEST(MpiTransport, CountsTrafficPerAgent) {
  MpiRanks::run(2, 20, [](Transport& t) {
    t.traffic() = {};
    FrameHeader header;
    header.agent = static_cast<std::uint32_t>(7 + t.rank());
    const Bytes frame = make_frame(header, Bytes(10));
    for (int i = 0; i < 3; ++i) t.send(1 - t.rank(), 0, frame);
    for (int i = 0; i < 3; ++i) (void)t.receive(1 - t.rank(), 0);
    ASSERT_EQ(t.traffic().sent.size(), 1u);
    const auto& [who, sent] = *t.traffic().sent.begin();
    EXPECT_EQ(who, std::make_pair(header.agent, 1 - t.rank()));
    EXPECT_EQ(sent.frames, 3u);
    EXPECT_EQ(sent.bytes, 3 * (frame_header_bytes + 10));
    const auto& [from, received] = *t.traffic().received.begin();
    EXPECT_EQ(from, std::make_pair(static_cast<std::uint32_t>(8 - t.rank()), 1 - t.rank()));
    EXPECT_EQ(received.bytes, sent.bytes);
    EXPECT_EQ(t.traffic().control_sent.bytes, 0u);
    barrier(t, channel_control);
    EXPECT_GT(t.traffic().control_sent.frames, 0u);
    EXPECT_EQ(t.traffic().sent.size(), 1u);
  });
}

// Rank 1 fails. All other ranks wait for another rank, and must fail with the same reason.
TEST(MpiTransport, AbandonWakesAllWaitingRanks) {
  MpiRanks::run(4, 60, [](Transport& t) {
    auto& ranks = dynamic_cast<MpiTransport&>(t);
    if (t.rank() == 1) {
      ranks.abandon(74, "the disk is full");
    } else {
      try {
        (void)t.receive(t.rank() == 0 ? 2 : 0, 0);
        ADD_FAILURE() << "something came";
      } catch (const DiskError& e) {
        EXPECT_EQ(std::string(e.what()), "rank 1: the disk is full");
        ranks.abandon(e.exit_code(), e.what());
      }
    }
    const Processes::Parting parting = ranks.part();
    EXPECT_TRUE(parting.told);
    if (t.rank() == 0) {
      ASSERT_EQ(parting.reasons.size(), 1u);  // ranks that pass it on add no reason
      EXPECT_EQ(parting.reasons[0].rank, 1);
      ranks.let_go();
    }
  });
}

TEST(MpiTransport, KnowsTheHostOfEveryRank) {
  MpiRanks::run(3, 20, [](Transport& t) {
    auto& ranks = dynamic_cast<MpiTransport&>(t);
    for (int r = 0; r < t.size(); ++r) EXPECT_EQ(ranks.host(r), Peer::here().name());
    EXPECT_GE(ranks.sharers(), 1);
    EXPECT_LE(ranks.sharers(), 3);
    EXPECT_EQ(ranks.lost(), "");
    EXPECT_NE(ranks.library(), "");
  });
}

TEST(Peer, IsGoneAnswersForTheSameMachineOnly) {
  const Peer me = Peer::here();
  EXPECT_FALSE(me.is_gone(me));
  Peer dead = me;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  dead.pid = child;
  EXPECT_TRUE(dead.is_gone(me));
  Peer elsewhere = dead;
  elsewhere.machine[0] = elsewhere.machine[0] == 'x' ? 'y' : 'x';
  EXPECT_FALSE(elsewhere.is_gone(me));
  Peer in_a_container = dead;
  ++in_a_container.pids;
  EXPECT_FALSE(in_a_container.is_gone(me));
}

}  // namespace
}  // namespace ticopd::dense
