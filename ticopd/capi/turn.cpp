#include "ticopd/capi/turn.hpp"

#include <chrono>

#include "ticopd/system/clock.hpp"
#include "ticopd/system/cores.hpp"

namespace ticopd::capi {
namespace {

constexpr double longest_spin = 30e-6;  // seconds; about what it costs to sleep and wake up
constexpr double longest_wait = 1e8;    // three years; more would overflow the clock

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool can_spin() {
  static const bool several = usable_cores() > 1;  // else the other thread needs this processor
  return several;
}

}  // namespace

void Turn::give_to(Of who) {
  turn_.store(who, std::memory_order_seq_cst);
  wake();
}

void Turn::end() {
  ended_ = true;
  wake();
}

void Turn::wake() {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  {
    const std::lock_guard lock(mutex_);  // whoever is about to sleep holds it until it does
  }
  changed_.notify_all();
}

bool Turn::spin(Of who) const {
  if (!can_spin()) return over(who);
  const double end = seconds_now() + longest_spin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (over(who)) return true;
      pause_briefly();
    }
  } while (seconds_now() < end);
  return over(who);
}

bool Turn::wait_for(Of who, double seconds) {
  if (over(who) || spin(who)) return true;
  std::unique_lock lock(mutex_);
  ++sleepers_;
  const auto mine = [&] { return over(who); };
  bool there = true;
  if (seconds < 0 || seconds > longest_wait)
    changed_.wait(lock, mine);
  else if (seconds != seconds)  // nan: does not wait
    there = mine();
  else
    there = changed_.wait_for(lock, std::chrono::duration<double>(seconds), mine);
  --sleepers_;
  return there;
}

}  // namespace ticopd::capi
