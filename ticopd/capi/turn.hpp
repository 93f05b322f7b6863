#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace ticopd::capi {

// Two threads that take turns: one computes while the other waits. A short wait spins, because a
// round of a small problem takes microseconds and to wake a thread takes as long; a long one
// sleeps.
class Turn {
 public:
  enum class Of : int { caller, worker };

  void give_to(Of who);
  // True once it is that thread's turn; false after `seconds` (negative: waits as long as it
  // takes). After end() it is true at once.
  bool wait_for(Of who, double seconds = -1);
  bool is_of(Of who) const { return turn_.load(std::memory_order_acquire) == who; }

  // From now on nobody waits: both look if they shall go on.
  void end();

 private:
  bool over(Of who) const {
    return turn_.load(std::memory_order_seq_cst) == who || ended_.load(std::memory_order_seq_cst);
  }
  bool spin(Of who) const;
  void wake();

  std::atomic<Of> turn_{Of::caller};
  std::atomic<bool> ended_{false};
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace ticopd::capi
