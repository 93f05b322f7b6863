#include "ticopd/sim/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#ifdef __has_feature  // Clang
#if __has_feature(address_sanitizer)
#define TICOPD_ADDRESS_SANITIZER
#elif __has_feature(thread_sanitizer)
#define TICOPD_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TICOPD_ADDRESS_SANITIZER
#elif defined(__SANITIZE_THREAD__)
#define TICOPD_THREAD_SANITIZER
#endif
#ifdef TICOPD_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef TICOPD_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace ticopd {
namespace {

constexpr std::size_t stack_bytes = 1 << 20, guard_bytes = 4096;

// Stacks are kept for the next fiber: a page costs more the first time it is written.
class Stacks {
 public:
  ~Stacks() {
    for (void* stack : free_) munmap(stack, stack_bytes);
  }
  void* take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, guard_bytes, PROT_NONE) != 0) throw std::bad_alloc();
    return stack;
  }
  void give_back(void* stack) { free_.push_back(stack); }

 private:
  std::vector<void*> free_;
};
thread_local Stacks stacks;

}  // namespace

// Sanitizers follow the stack, and must hear that the program goes to another one. `from` is null
// if it is left for good.
void Fiber::leave([[maybe_unused]] Side* from, [[maybe_unused]] const Side& to) {
#ifdef TICOPD_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(from == nullptr ? nullptr : &from->fake, to.bottom, to.size);
#endif
#ifdef TICOPD_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.thread, 0);
#endif
}

void Fiber::arrive([[maybe_unused]] const Side& at, [[maybe_unused]] Side* from) {
#ifdef TICOPD_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(at.fake, from == nullptr ? nullptr : &from->bottom,
                                  from == nullptr ? nullptr : &from->size);
#endif
}

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(stacks.take()) {
  getcontext(&here_);
  here_.uc_stack.ss_sp = static_cast<char*>(stack_) + guard_bytes;
  here_.uc_stack.ss_size = stack_bytes - guard_bytes;
  own_.bottom = here_.uc_stack.ss_sp;
  own_.size = here_.uc_stack.ss_size;
#ifdef TICOPD_THREAD_SANITIZER
  own_.thread = __tsan_create_fiber(0);
#endif
  here_.uc_link = &outside_;
  // makecontext passes ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&here_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self & 0xffffffff), static_cast<unsigned>(self >> 32));
}

Fiber::~Fiber() {
#ifdef TICOPD_THREAD_SANITIZER
  __tsan_destroy_fiber(own_.thread);
#endif
  stacks.give_back(stack_);
}

void Fiber::enter(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
  arrive(self->own_, &self->other_);
  self->body_();
  self->ended_ = true;
  leave(nullptr, self->other_);
}

void Fiber::resume() {
#ifdef TICOPD_THREAD_SANITIZER
  other_.thread = __tsan_get_current_fiber();
#endif
  leave(&other_, own_);
  swapcontext(&outside_, &here_);
  arrive(other_, nullptr);
}

void Fiber::yield() {
  leave(&own_, other_);
  swapcontext(&here_, &outside_);
  arrive(own_, &other_);
}

}  // namespace ticopd
