#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace ticopd {

// A function that can be left in the middle and gone on with, all in one thread. Threads that take
// turns would do the same ten times slower, and in an order that the system chooses.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);  // which must not throw
  ~Fiber();                                    // must have ended, or never have begun
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();  // until it yields or ends
  void yield();   // called inside: goes on when it is resumed
  bool ended() const { return ended_; }

 private:
  // A stack as sanitizers know it (fiber.cpp).
  struct Side {
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake = nullptr;    // what AddressSanitizer keeps of it while it is left
    void* thread = nullptr;  // what ThreadSanitizer takes it for
  };
  static void leave(Side* from, const Side& to);
  static void arrive(const Side& at, Side* from);
  static void enter(unsigned low, unsigned high);

  std::function<void()> body_;
  void* stack_;
  ucontext_t here_{}, outside_{};
  Side own_, other_;
  bool ended_ = false;
};

}  // namespace ticopd
