// The transport between ranks that are threads of one process.
#include "ticopd/transport/threads.hpp"

#include "network/transport_conformance.hpp"

namespace ticopd::dense {
namespace {

struct Threads {
  static void run(int ranks, double deadline_s, const std::function<void(Transport&)>& body) {
    ThreadRanks all(ranks, deadline_s);
    for (const auto& error : on_every_rank(all, ranks, body))
      if (error) std::rethrow_exception(error);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Threads, TransportConformance, Threads);

TEST(ThreadRanks, AbandonWakesAllWaitingRanksWithTheReason) {
  ThreadRanks all(4, 600);  // the test must end long before this deadline
  const auto errors = on_every_rank(all, 4, [](Transport& t) {
    if (t.rank() == 2) throw FormatError("the disk of rank 2 is full");
    (void)t.receive((t.rank() + 1) % 4, 0);
  });
  for (const std::size_t r : {0, 1, 3}) {
    EXPECT_TRUE(is<Interrupted>(errors[r])) << message_of(errors[r]);
    EXPECT_NE(message_of(errors[r]).find("rank 2 is gone: the disk of rank 2 is full"),
              std::string::npos);
  }
  EXPECT_TRUE(is<FormatError>(errors[2]));
}

TEST(ThreadRanks, FramesSentBeforeALossAreStillReceived) {
  ThreadRanks all(2, 600);
  all.rank(0).send(1, 0, text("last words"));
  all.abandon(0, "gone");
  EXPECT_EQ(text(all.rank(1).receive(0, 0)), "last words");
  EXPECT_THROW((void)all.rank(1).receive(0, 0), Interrupted);
}

TEST(SingleRank, HasNoPeers) {
  Alone alone;
  EXPECT_EQ(alone.size(), 1);
  EXPECT_THROW(alone.send(1, 0, {}), std::logic_error);
  EXPECT_THROW((void)alone.receive(1, 0), std::logic_error);
  EXPECT_EQ(text(broadcast(alone, 0, 0, text("me"))), "me");
  EXPECT_EQ(all_gather(alone, 0, text("me")).size(), 1u);
  barrier(alone, 0);
}

TEST(Collective, RejectsAMessageOfOddLength) {
  EXPECT_THROW(from_bytes<double>(Bytes(9)), FormatError);
  EXPECT_TRUE(from_bytes<double>(Bytes{}).empty());
}

}  // namespace
}  // namespace ticopd::dense
