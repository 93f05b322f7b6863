// The peak memory of a rank while it reads its share of a set, measured by counting allocations.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "data/drawn_sets.hpp"

// Under sanitizers this is off, since they replace operator new themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TICOPD_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TICOPD_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef TICOPD_COUNTS_ALLOCATIONS
#define TICOPD_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<std::size_t> held{0}, most{0};
}

#if TICOPD_COUNTS_ALLOCATIONS  // if these are inlined, gcc reports malloc and delete as a mismatch
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t now = held += malloc_usable_size(block);
  for (std::size_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
  }
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  held -= malloc_usable_size(block);
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
#endif

namespace ticopd {
namespace {

class Peak : public DrawnSets {
 protected:
  void SetUp() override {
    if (!TICOPD_COUNTS_ALLOCATIONS) GTEST_SKIP() << "allocations are the sanitizer's";
    DrawnSets::SetUp();
  }
  void TearDown() override {
    if (!folder_.empty()) DrawnSets::TearDown();
  }

  static std::size_t peak(const DataOptions& o, const Choose& choose) {
    const std::size_t before = held;
    most = before;
    const auto data = load<float>(o, choose);
    return most - before;
  }

  // One of twenty samples, scattered and in descending order, as a partition may choose them.
  void expect_small(const std::string& data, std::size_t features_bytes) const {
    const Choose few = [](std::span<const double> labels, int) {
      std::vector<std::uint32_t> list;
      for (std::size_t s = labels.size(); s >= 20; s -= 20)
        list.push_back(static_cast<std::uint32_t>(s - 1));
      return list;
    };
    auto o = options(data);
    o.samples = 20000;
    o.features = 100;
    EXPECT_GE(peak(o, {}), features_bytes) << data;
    EXPECT_LT(peak(o, few), features_bytes / 2) << data;
    o.normalize = true;  // converts bytes to floats, but only those of the chosen samples
    EXPECT_LT(peak(o, few), features_bytes) << data;
  }
};

TEST_F(Peak, MemoryIsNearTheShareOfARankForPixels) {
  draw_idx("plain", 20000, 20, false);
  expect_small("idx:plain", 8'000'000);
  draw_idx("zipped", 20000, 20, true);
  expect_small("idx:zipped", 8'000'000);
  draw_npy<std::uint8_t>("bytes", 20000, 400);
  expect_small("npy:bytes", 8'000'000);
}

TEST_F(Peak, MemoryIsNearTheShareOfARankForNumbers) {
  draw_npy<float>("floats", 20000, 100);
  expect_small("npy:floats", 8'000'000);
  draw_text("a.csv", 20000, 60, false, false);
  expect_small("csv:a.csv", 4'800'000);
  draw_text("a.svm", 20000, 100, true, false);  // about 60 entries of 8 bytes each
  expect_small("libsvm:a.svm", 9'000'000);
}

TEST_F(Peak, MemoryIsNearTheShareOfARankForGeneratedSamples) {
  auto o = options("synthetic");
  o.samples = 20000;
  o.features = 100;
  const Choose one = [](auto, int) { return std::vector<std::uint32_t>{7}; };
  const std::size_t test = 4000 * 100 * sizeof(float);  // vectors grow by doubling
  EXPECT_LT(peak(o, one), 20000 * 100 * sizeof(float) / 10 + 3 * test);
  EXPECT_GT(peak(o, {}), 20000 * 100 * sizeof(float));
}

}  // namespace
}  // namespace ticopd
