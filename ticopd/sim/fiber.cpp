#include "ticopd/sim/fiber.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

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

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(stacks.take()) {
  getcontext(&here_);
  here_.uc_stack.ss_sp = static_cast<char*>(stack_) + guard_bytes;
  here_.uc_stack.ss_size = stack_bytes - guard_bytes;
  here_.uc_link = &outside_;
  // makecontext passes ints only.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&here_, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self & 0xffffffff), static_cast<unsigned>(self >> 32));
}

Fiber::~Fiber() {
  stacks.give_back(stack_);
}

void Fiber::enter(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<std::uintptr_t>(high) << 32 | low);
  self->body_();
  self->ended_ = true;
}

void Fiber::resume() {
  swapcontext(&outside_, &here_);
}

void Fiber::yield() {
  swapcontext(&here_, &outside_);
}

}  // namespace ticopd
