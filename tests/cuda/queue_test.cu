// Equal rounds are replayed as graphs, and this must not change what they compute.
#include <gtest/gtest.h>

#include <new>

#include "cuda/device.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda {
namespace {

__global__ void append(std::uint32_t* list, std::uint32_t* length, std::uint32_t by, Round round) {
  list[(*length)++] = round.number() + by;
}

struct List {
  Buffer<std::uint32_t> list{4096}, length{1};
  void add(Queue& queue, std::uint32_t by, bool small = false) {
    const Grid grid{.blocks = dim3(1), .threads = dim3(1), .small = small};
    queue.launch(append, grid, list.data(), length.data(), by, ThisRound{});
  }
  std::vector<std::uint32_t> read() {
    std::vector<std::uint32_t> all = list.download();
    all.resize(length.download()[0]);
    return all;
  }
};

// A queue whose rounds append to a list, and the expected list.
struct Writing {
  List list;
  Queue queue;
  std::uint32_t round = 0;
  std::vector<std::uint32_t> expected = {};

  void begin(std::uint32_t number) { queue.begin_round(round = number); }
  void add(std::uint32_t by, bool small = false) {
    list.add(queue, by, small);
    expected.push_back(round + by);
  }
  void expect_written() {
    queue.finish();
    EXPECT_EQ(list.read(), expected);
  }
};

TEST(Queue, ReplaysEqualRounds) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 500; ++round) {
    w.begin(round);
    w.add(1000);
    w.add(2000);
    if (round == 123 || round == 124) w.queue.finish();  // as if the round were logged
  }
  w.expect_written();
  EXPECT_GE(w.queue.graphs(), 1u);
  EXPECT_LE(w.queue.graphs(), 3u);
}

TEST(Queue, RunsDifferentRounds) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 700; ++round) {
    w.begin(round);
    w.add(round < 200 ? 1000 * (round % 2) : round < 400 ? round : round % 7);
    if (round % 11 == 0) w.add(5);
  }
  w.expect_written();
}

TEST(Queue, RunsHostCodeInTheMiddleOfARound) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 5; round <= 40; ++round) {  // starts in round 5, as after a checkpoint
    w.begin(round);
    w.add(100);
    w.queue.host([&] { EXPECT_EQ(w.list.read().back(), round + 100); });
    w.add(200);
  }
  w.expect_written();
}

// Reads a list written on the side stream, after the join.
__global__ void copy_last(const std::uint32_t* from, const std::uint32_t* length,
                          std::uint32_t* list, std::uint32_t* count) {
  list[(*count)++] = from[*length - 1];
}

TEST(Queue, JoinsWorkOnTheSideStream) {
  TICOPD_NEEDS_DEVICE();
  List aside, beside, after;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 1; round <= 300; ++round) {
    queue.begin_round(round);
    queue.begin_aside();
    aside.add(queue, 10);
    queue.end_aside();
    beside.add(queue, 20);
    if (round % 3 != 0) queue.join();  // otherwise the end of the round joins
    if (round % 3 != 0)
      queue.launch(copy_last, Grid{.blocks = dim3(1), .threads = dim3(1)}, aside.list.data(),
                   aside.length.data(), after.list.data(), after.length.data());
    if (round % 3 != 0) expected.push_back(round + 10);
  }
  queue.finish();
  EXPECT_EQ(after.read(), expected);
  EXPECT_EQ(aside.read().size(), 300u);
  EXPECT_EQ(beside.read().back(), 320u);
}

// Side work starts where room was announced, once per round, and is joined as usual. Small and
// large kernels keep their order. Many side kernels start at once. Without side work the hint has
// no effect.
TEST(Queue, StartsSideWorkWhereRoomIsAnnounced) {
  TICOPD_NEEDS_DEVICE();
  List aside, beside, after;
  Queue queue;
  std::vector<std::uint32_t> expected, of_aside;
  for (std::uint32_t round = 1; round <= 300; ++round) {
    queue.begin_round(round);
    queue.room_aside();
    queue.begin_aside();
    const std::uint32_t count = round < 100 ? 1 : round < 200 ? 2 : 5;
    for (std::uint32_t k = 0; k < count; ++k) aside.add(queue, 10 + k, k == 0 && round > 50);
    for (std::uint32_t k = 0; k < count; ++k) of_aside.push_back(round + 10 + k);
    queue.end_aside();
    beside.add(queue, 20);
    if (round % 3 != 0) queue.room_aside();
    beside.add(queue, 30);
    if (round % 2 != 0) queue.room_aside();
    queue.join();
    queue.launch(copy_last, Grid{.blocks = dim3(1), .threads = dim3(1)}, aside.list.data(),
                 aside.length.data(), after.list.data(), after.length.data());
    expected.push_back(of_aside.back());
  }
  queue.finish();
  EXPECT_EQ(after.read(), expected);
  EXPECT_EQ(aside.read(), of_aside);
  EXPECT_EQ(beside.read().size(), 600u);
}

// All side kernels are small, so they run on the main stream and there is nothing to join. This
// must also work while a graph is captured.
TEST(Queue, JoinWithoutSideWorkDoesNothing) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 100; ++round) {
    w.begin(round);
    w.queue.begin_aside();
    w.add(10, true);
    w.queue.end_aside();
    w.queue.room_aside();
    w.queue.join();
    w.add(20);
  }
  w.expect_written();
  EXPECT_GE(w.queue.graphs(), 1u);
}

// Six hundred different rounds, then rounds that repeat: these get graphs again.
TEST(Queue, DropsRecordsOfRoundsThatDoNotRepeat) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 700; ++round) {
    w.begin(round);
    w.add(round <= 600 ? round : 7);
    if (round != 600) continue;
    w.queue.finish();
    EXPECT_EQ(w.queue.graphs(), 0u);
  }
  w.expect_written();
  EXPECT_GE(w.queue.graphs(), 1u);
}

__global__ void take_a_millisecond(std::uint32_t* done, Round round) {
  std::uint64_t begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < 1000000);
  *reinterpret_cast<volatile std::uint32_t*>(done) = round.number();
  __threadfence_system();
}

TEST(Queue, LimitsHowFarTheHostRunsAhead) {
  TICOPD_NEEDS_DEVICE();
  void* pinned = nullptr;
  check(cudaMallocHost(&pinned, sizeof(std::uint32_t)), "allocate pinned memory");
  auto* done = new (pinned) std::uint32_t(0);
  {
    Queue queue;
    for (std::uint32_t round = 1; round <= 400; ++round) {
      queue.begin_round(round);
      queue.launch(take_a_millisecond, Grid{.blocks = dim3(1), .threads = dim3(1)}, done,
                   ThisRound{});
      const std::uint32_t seen = *const_cast<volatile std::uint32_t*>(done);
      ASSERT_LE(round, seen + 6 * 16);  // four flushes queued, one running, one being recorded
    }
    queue.finish();
    EXPECT_EQ(*done, 400u);
  }
  cudaFreeHost(pinned);
}

// Each thread captures rounds while the other waits for the device.
TEST(Queue, WorksInTwoThreadsAtOnce) {
  TICOPD_NEEDS_DEVICE();
  in_two_threads([](int) {
    Writing w;
    for (std::uint32_t round = 1; round <= 400; ++round) {
      w.begin(round);
      w.add(round / 40);
      if (round % 50 != 0) continue;
      w.queue.finish();
      w.list.read();
    }
    w.expect_written();
  });
}

}  // namespace
}  // namespace ticopd::cuda
