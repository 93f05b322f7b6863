#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

namespace ticopd {

// Lets as many tasks go on at once as fit into memory. The first one goes alone until it has
// settled, that is, until it holds all that it will need; the memory that it took tells what the
// others need, in proportion to their weights. A task that is heavier than all memory goes alone.
class MemoryGate {
 public:
  explicit MemoryGate(double bytes);

  // Waits until there is room. False if `stop` was set meanwhile.
  bool enter(double weight, const std::atomic<bool>& stop);
  void settled();
  void leave(double weight);

  double bytes_per_weight() const;  // 0: not known yet

 private:
  bool has_room(double weight) const;

  double bytes_;
  std::size_t resident_, peak_;  // at the start
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  double running_ = 0;     // weight
  double per_weight_ = 0;  // bytes
};

// Tasks for several threads, taken in the order of their numbers.
struct SideBySide {
  std::size_t tasks = 0;
  int threads = 1;    // in all
  int at_once = 1;    // tasks; at most `threads`
  double memory = 0;  // bytes
  const std::atomic<bool>* stop = nullptr;

  std::function<double(std::size_t task)> weight;
  // A task gets a share of the threads, says when it has settled, and looks at `stop`.
  std::function<void(std::size_t task, int threads, const std::atomic<bool>& stop,
                     const std::function<void()>& settled)>
      work;
};

// Returns when all tasks are done. If a task throws, the others are asked to stop and the exception
// is rethrown here, an Interrupted only if there is no other. With one task at once all work is
// done by the calling thread.
void run_side_by_side(const SideBySide& tasks);

}  // namespace ticopd
