// The pool of threads.
#include "ticopd/system/pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>

namespace ticopd {
namespace {

TEST(Pool, RunsEveryTaskExactlyOnce) {
  for (const int threads : {1, 2, 5}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::size_t run = 0; run < 2000; ++run) {
      const std::size_t tasks = run % 23;
      std::vector<std::atomic<int>> done(tasks);
      pool.run(tasks, [&](std::size_t t) { ++done[t]; });
      for (std::size_t t = 0; t < tasks; ++t)
        ASSERT_EQ(done[t], 1) << threads << " threads, run " << run;
    }
  }
}

TEST(Pool, ReturnsOnlyWhenAllTasksAreDone) {
  Pool pool(4);
  std::vector<long> out(5000);
  for (long run = 1; run <= 50; ++run) {
    pool.run(out.size(), [&](std::size_t t) { out[t] = run; });
    ASSERT_EQ(std::accumulate(out.begin(), out.end(), 0L), run * 5000);
  }
}

TEST(Pool, RethrowsTheExceptionOfTheLowestTask) {
  for (const int threads : {1, 2, 5}) {
    Pool pool(threads);
    for (int run = 0; run < 200; ++run) {
      try {
        pool.run(40, [](std::size_t t) {
          if (t % 7 == 5) throw std::runtime_error("task " + std::to_string(t));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& e) {
        ASSERT_STREQ(e.what(), "task 5");
      }
    }
    int after = 0;  // the pool still works
    pool.run(1, [&](std::size_t) { ++after; });
    EXPECT_EQ(after, 1);
  }
}

TEST(Pool, RethrowsTheLowestTaskEvenIfItFailsLast) {
  Pool pool(2);
  std::atomic<bool> other_failed = false;
  try {
    pool.run(2, [&](std::size_t t) {
      if (t == 1) {
        other_failed = true;
        throw std::runtime_error("task 1");
      }
      while (!other_failed) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // task 1 must be first
      throw std::runtime_error("task 0");
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "task 0");
  }
}

TEST(Pool, ManyPoolsWorkAtTheSameTime) {  // there is one pool per rank
  std::vector<std::thread> ranks;
  std::atomic<long> sum = 0;
  for (int r = 0; r < 6; ++r)
    ranks.emplace_back([&] {
      Pool pool(3);
      for (int run = 0; run < 100; ++run)
        pool.run(10, [&](std::size_t t) { sum += static_cast<long>(t); });
    });
  for (std::thread& t : ranks) t.join();
  EXPECT_EQ(sum, 6 * 100 * 45);
}

}  // namespace
}  // namespace ticopd
