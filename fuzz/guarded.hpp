#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

// Memory between two pages that nobody may touch: an access one byte beyond its end, or before its
// start, ends the program. It costs nothing per access, unlike a sanitizer.
class Guarded {
 public:
  explicit Guarded(std::size_t most) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (most + page - 1) / page * page;
    void* all = ::mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<std::byte*>(all) + page;
    if (::mprotect(start_, bytes_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ::munmap(start_ - page, bytes_ + 2 * page);
  }

  std::size_t size() const { return bytes_; }
  std::byte* at_end(std::size_t count) const { return start_ + bytes_ - count; }
  std::byte* at_start() const { return start_; }

 private:
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0;
};
