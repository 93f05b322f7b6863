// Rounds that do the same are replayed as graphs, and nobody can tell by what they compute.
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

// A queue whose rounds write to a list, and what the list must be in the end.
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

TEST(Queue, ReplaysRoundsThatDoTheSame) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 500; ++round) {
    w.begin(round);
    w.add(1000);
    w.add(2000);
    if (round == 123 || round == 124) w.queue.finish();  // somebody looks
  }
  w.expect_written();
  EXPECT_GE(w.queue.graphs(), 1u);
  EXPECT_LE(w.queue.graphs(), 3u);
}

TEST(Queue, RunsRoundsThatDiffer) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 1; round <= 700; ++round) {
    w.begin(round);
    w.add(round < 200 ? 1000 * (round % 2) : round < 400 ? round : round % 7);
    if (round % 11 == 0) w.add(5);
  }
  w.expect_written();
}

TEST(Queue, LetsTheHostWorkInTheMiddleOfARound) {
  TICOPD_NEEDS_DEVICE();
  Writing w;
  for (std::uint32_t round = 5; round <= 40; ++round) {  // as after a checkpoint
    w.begin(round);
    w.add(100);
    w.queue.host([&] { EXPECT_EQ(w.list.read().back(), round + 100); });
    w.add(200);
  }
  w.expect_written();
}

// Two lists: one that is written aside, and one that waits for it.
__global__ void copy_last(const std::uint32_t* from, const std::uint32_t* length,
                          std::uint32_t* list, std::uint32_t* count) {
  list[(*count)++] = from[*length - 1];
}

TEST(Queue, JoinsWhatRanAside) {
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
    if (round % 3 != 0) queue.join();  // else the round's end does it
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

// What is aside begins where room was announced, once, and is joined as ever, small kernels and
// others in their order; many kernels begin at once; where nobody waits for it, the hint is none.
TEST(Queue, BeginsWhatIsAsideWhereThereIsRoom) {
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

// Nothing but small ones aside, which take their place among the others: there is nothing to join,
// also where that is captured.
TEST(Queue, JoinsWhereNothingRanAside) {
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

// Six hundred rounds unlike all before them, and then rounds that repeat: these have graphs again.
TEST(Queue, ForgetsRoundsThatDoNotComeBack) {
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

TEST(Queue, KeepsTheHostNearTheDevice) {
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
      ASSERT_LE(round, seen + 6 * 16);  // four flushes, one that runs, one that is recorded
    }
    queue.finish();
    EXPECT_EQ(*done, 400u);
  }
  cudaFreeHost(pinned);
}

// Each with rounds that are captured while the other waits for the device.
TEST(Queue, OfTwoThreadsIsThatOfEachAlone) {
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
