// Rounds that do the same are replayed as graphs, and nobody can tell by what they compute.
#include <gtest/gtest.h>

#include <new>

#include "cuda/device.hpp"
#include "ticopd/cuda/queue.hpp"

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

TEST(Queue, ReplaysRoundsThatDoTheSame) {
  TICOPD_NEEDS_DEVICE();
  List list;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 1; round <= 500; ++round) {
    queue.begin_round(round);
    list.add(queue, 1000);
    list.add(queue, 2000);
    expected.insert(expected.end(), {round + 1000, round + 2000});
    if (round == 123 || round == 124) queue.finish();  // somebody looks
  }
  queue.finish();
  EXPECT_EQ(list.read(), expected);
  EXPECT_GE(queue.graphs(), 1u);
  EXPECT_LE(queue.graphs(), 3u);
}

TEST(Queue, RunsRoundsThatDiffer) {
  TICOPD_NEEDS_DEVICE();
  List list;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 1; round <= 700; ++round) {
    queue.begin_round(round);
    const std::uint32_t by = round < 200 ? 1000 * (round % 2) : round < 400 ? round : round % 7;
    list.add(queue, by);
    expected.push_back(round + by);
    if (round % 11 == 0) {
      list.add(queue, 5);
      expected.push_back(round + 5);
    }
  }
  queue.finish();
  EXPECT_EQ(list.read(), expected);
}

TEST(Queue, LetsTheHostWorkInTheMiddleOfARound) {
  TICOPD_NEEDS_DEVICE();
  List list;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 5; round <= 40; ++round) {  // as after a checkpoint
    queue.begin_round(round);
    list.add(queue, 100);
    queue.host([&] { EXPECT_EQ(list.read().back(), round + 100); });
    list.add(queue, 200);
    expected.insert(expected.end(), {round + 100, round + 200});
  }
  queue.finish();
  EXPECT_EQ(list.read(), expected);
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
  List list;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 1; round <= 100; ++round) {
    queue.begin_round(round);
    queue.begin_aside();
    list.add(queue, 10, true);
    queue.end_aside();
    queue.room_aside();
    queue.join();
    list.add(queue, 20);
    expected.insert(expected.end(), {round + 10, round + 20});
  }
  queue.finish();
  EXPECT_EQ(list.read(), expected);
  EXPECT_GE(queue.graphs(), 1u);
}

// Six hundred rounds unlike all before them, and then rounds that repeat: these have graphs again.
TEST(Queue, ForgetsRoundsThatDoNotComeBack) {
  TICOPD_NEEDS_DEVICE();
  List list;
  Queue queue;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t round = 1; round <= 700; ++round) {
    queue.begin_round(round);
    const std::uint32_t by = round <= 600 ? round : 7;
    list.add(queue, by);
    expected.push_back(round + by);
    if (round == 600) {
      queue.finish();
      EXPECT_EQ(queue.graphs(), 0u);
    }
  }
  queue.finish();
  EXPECT_EQ(list.read(), expected);
  EXPECT_GE(queue.graphs(), 1u);
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
  std::vector<std::uint32_t> expected, found[2];
  for (std::uint32_t round = 1; round <= 400; ++round) expected.push_back(round + round / 40);
  in_two_threads([&](int thread) {
    List list;
    Queue queue;
    for (std::uint32_t round = 1; round <= 400; ++round) {
      queue.begin_round(round);
      list.add(queue, round / 40);
      if (round % 50 == 0) {
        queue.finish();
        list.read();
      }
    }
    queue.finish();
    found[thread] = list.read();
  });
  EXPECT_EQ(found[0], expected);
  EXPECT_EQ(found[1], expected);
}

}  // namespace
}  // namespace ticopd::cuda
