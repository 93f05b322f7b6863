// operator new and delete for programs that are to notice a wrong access without a sanitizer, at
// nearly full speed. One block in eight ends where a page begins that nobody may touch, or begins
// behind one, and is overwritten when it is freed. All of them would be three times as slow: blocks
// at the end of a page share a few lines of the cache. The others, and blocks of more than 64 KiB,
// come from malloc.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t classes = 5;  // blocks of up to 1, 2, 4, 8 and 16 pages
// Each slot takes two entries in the system's map of memory, which has 65,530.
constexpr std::array<std::uint32_t, classes> slots_of_class{16384, 2048, 1024, 512, 256};
constexpr unsigned char freed = 0xdd;
constexpr std::uint64_t one_in = 8, one_at_start_in = 64;

class Spin {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

// Slots of one size, each between two pages without access.
class Slots {
 public:
  void make(std::size_t pages, std::uint32_t slots) {
    pages_ = pages;
    stride_ = (pages + 1) * page;
    void* all = ::mmap(nullptr, slots * stride_ + page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) std::abort();
    start_ = static_cast<char*>(all) + page;
    end_ = start_ + slots * stride_;
    never_used_ = start_;
  }

  void* take(std::size_t bytes, bool at_start) {
    char* slot = nullptr;
    if (free_count_ > 0) {
      slot = free_[--free_count_];
    } else if (never_used_ < end_) {
      if (::mprotect(never_used_, pages_ * page, PROT_READ | PROT_WRITE) != 0) return nullptr;
      slot = never_used_;
      never_used_ += stride_;
    } else {
      return nullptr;
    }
    // The size is a multiple of the alignment of what will be there.
    return at_start ? slot : slot + pages_ * page - bytes;
  }

  bool holds(const void* block) const { return block >= start_ && block < end_; }

  void give_back(void* block) {
    const auto number = static_cast<std::size_t>(static_cast<char*>(block) - start_) / stride_;
    char* slot = start_ + number * stride_;
    // Not more than a block can have used: to fill 64 KiB each time would take longer than the
    // read.
    char* block_begin = static_cast<char*>(block);
    const auto left = static_cast<std::size_t>(slot + pages_ * page - block_begin);
    std::memset(block_begin, freed, left < 512 ? left : 512);
    free_[free_count_++] = slot;
  }

 private:
  std::size_t pages_ = 0, stride_ = 0;
  char *start_ = nullptr, *end_ = nullptr, *never_used_ = nullptr;
  std::array<char*, slots_of_class[0]> free_{};
  std::size_t free_count_ = 0;
};

class Heap {
 public:
  Heap() {
    for (std::size_t c = 0; c < classes; ++c)
      slots_[c].make(std::size_t{1} << c, slots_of_class[c]);
  }

  void* take(std::size_t bytes) {
    if (bytes == 0) bytes = 1;
    const std::uint64_t number = count_.fetch_add(1, std::memory_order_relaxed);
    void* block = number % one_in == 0 ? guarded(bytes, number % one_at_start_in == 0) : nullptr;
    if (block == nullptr) block = std::malloc(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }

  void give_back(void* block) {
    for (Slots& slots : slots_)
      if (slots.holds(block)) {
        lock_.lock();
        slots.give_back(block);
        lock_.unlock();
        return;
      }
    std::free(block);
  }

 private:
  void* guarded(std::size_t bytes, bool at_start) {
    for (std::size_t c = 0; c < classes; ++c)
      if (bytes <= page << c) {
        lock_.lock();
        void* block = slots_[c].take(bytes, at_start);
        lock_.unlock();
        return block;
      }
    return nullptr;
  }

  std::array<Slots, classes> slots_;
  Spin lock_;
  std::atomic<std::uint64_t> count_{0};
};

// Never destroyed: others free memory until the very end.
Heap& heap() {
  alignas(Heap) static std::array<std::byte, sizeof(Heap)> memory;
  static Heap* one = new (memory.data()) Heap;
  return *one;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return heap().take(bytes);
}
void operator delete(void* block) noexcept {
  if (block != nullptr) heap().give_back(block);
}
void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
