#include "ticopd/studies/side_by_side.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/system/memory.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

constexpr std::chrono::milliseconds moment{20};

// The threads that share the tasks, and the exception that ended them.
class Workers {
 public:
  explicit Workers(const SideBySide& tasks)
      : tasks_(tasks), gate_(tasks.memory), left_(tasks.tasks) {}

  void run() {
    const auto count =
        std::min<std::size_t>(static_cast<std::size_t>(tasks_.at_once), tasks_.tasks);
    std::vector<std::thread> threads;
    running_ = count;
    for (std::size_t w = 0; w < count; ++w)
      threads.emplace_back([this] {
        const StopScope heard(&stop_);
        work();
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_all();
      });
    pass_on_stop();
    for (std::thread& t : threads) t.join();
    if (error_) std::rethrow_exception(error_);
    if (interrupted_) std::rethrow_exception(interrupted_);
    if (left_ > 0) throw Interrupted("");  // between two tasks
  }

 private:
  // Nobody can wait for the caller's flag, so it is looked at.
  void pass_on_stop() {
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      ended_.wait_for(lock, moment);
      if (tasks_.stop != nullptr && tasks_.stop->load()) stop_ = true;
    }
  }

  void work() {
    for (std::size_t task; !stop_ && (task = next_++) < tasks_.tasks;) {
      const double weight = tasks_.weight(task);
      if (!gate_.enter(weight, stop_)) return;
      try {
        bool told = false;
        tasks_.work(task, share_of_threads(), stop_, [&] {
          if (!std::exchange(told, true)) gate_.settled();
        });
      } catch (const Interrupted&) {
        keep(interrupted_);
      } catch (...) {
        keep(error_);
      }
      gate_.leave(weight);
      --left_;
    }
  }

  int share_of_threads() const {
    const auto others = std::min<std::size_t>(left_, static_cast<std::size_t>(tasks_.at_once));
    return std::max(1, tasks_.threads / static_cast<int>(std::max<std::size_t>(1, others)));
  }

  void keep(std::exception_ptr& first) {
    const std::lock_guard lock(mutex_);
    if (!first) first = std::current_exception();
    stop_ = true;
  }

  const SideBySide& tasks_;
  MemoryGate gate_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> next_ = 0, left_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::exception_ptr error_, interrupted_;
};

}  // namespace

MemoryGate::MemoryGate(double bytes)
    : bytes_(bytes), resident_(resident_bytes()), peak_(peak_resident_bytes()) {}

bool MemoryGate::has_room(double weight) const {
  if (running_ == 0) return true;
  return per_weight_ > 0 && (running_ + weight) * per_weight_ <= bytes_;
}

bool MemoryGate::enter(double weight, const std::atomic<bool>& stop) {
  std::unique_lock lock(mutex_);
  while (!has_room(weight) && !stop) changed_.wait_for(lock, moment);
  if (stop) return false;
  running_ += weight;
  return true;
}

void MemoryGate::settled() {
  const std::lock_guard lock(mutex_);
  // The peak tells more, if it is not one of an earlier time.
  const std::size_t peak = peak_resident_bytes();
  const std::size_t now = peak > peak_ ? peak : resident_bytes();
  const double grown = static_cast<double>(std::max(now, resident_ + 1) - resident_);
  per_weight_ = std::max(per_weight_, grown / running_);
  changed_.notify_all();
}

void MemoryGate::leave(double weight) {
  const std::lock_guard lock(mutex_);
  running_ -= weight;
  if (running_ < 1e-9) running_ = 0;
  changed_.notify_all();
}

double MemoryGate::bytes_per_weight() const {
  const std::lock_guard lock(mutex_);
  return per_weight_;
}

void run_side_by_side(const SideBySide& tasks) {
  if (std::min<std::size_t>(static_cast<std::size_t>(tasks.at_once), tasks.tasks) > 1) {
    Workers(tasks).run();
    return;
  }
  static const std::atomic<bool> never = false;
  for (std::size_t task = 0; task < tasks.tasks; ++task)
    tasks.work(task, tasks.threads, tasks.stop != nullptr ? *tasks.stop : never, [] {});
}

}  // namespace ticopd
