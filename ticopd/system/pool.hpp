#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ticopd {

// Threads that share a list of numbered tasks. Any thread may take a task, so a task must write
// only what its number owns: then results do not depend on the number of threads. Hand-written
// because each rank that is a thread needs its own pool, and we use only one verb; a work-stealing
// library would bring a global scheduler.
class Pool {
 public:
  // If pinned, each thread (the caller's too) stays on one processor while the pool lives.
  // Schedulers of virtual machines tend to pack threads that wake often onto one processor. But
  // pinning hurts other programs that need the processors, so the caller decides (may_pin).
  explicit Pool(int threads, bool pinned = false);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // task(0) ... task(tasks - 1), in any order, on all threads and the caller's; returns when all
  // are done. If tasks throw, the exception of the lowest-numbered one that did is rethrown here.
  void run(std::size_t tasks, const std::function<void(std::size_t)>& task);

 private:
  struct Job;
  void work();
  static void take_tasks(Job& job);

  std::vector<int> cpus_;  // to give back to the caller's thread; empty: nothing was pinned
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  std::size_t job_number_ = 0;
  std::size_t busy_ = 0;
  bool stop_ = false;
};

// True if a process of so many threads may pin them: it uses every processor it is allowed to, so
// pinning takes nothing from others, and no control group grants it less time than that. TICOPD_PIN
// = 0 forbids pinning; 1 asks for it, with any number of threads that fits.
bool may_pin(int threads);

}  // namespace ticopd
