#include "ticopd/system/pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <cstdlib>
#include <limits>

#include "ticopd/system/cores.hpp"

namespace ticopd {
namespace {

// Restricts the calling thread to these processors. If the system refuses, only speed is lost.
void keep_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace

bool may_pin(int threads) {
  const int allowed = static_cast<int>(allowed_cpus().size());
  if (const char* wish = std::getenv("TICOPD_PIN"); wish != nullptr && *wish != '\0')
    return *wish != '0' && threads <= allowed;
  return threads > 1 && threads == allowed && threads == usable_cores();
}

struct Pool::Job {
  Job(std::size_t count, const std::function<void(std::size_t)>& body) : tasks(count), task(body) {}

  std::size_t tasks;
  const std::function<void(std::size_t)>& task;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::size_t failed = std::numeric_limits<std::size_t>::max();
  std::exception_ptr error;
};

Pool::Pool(int threads, bool pinned) {
  if (pinned) cpus_ = allowed_cpus();
  const std::vector<int> cpus =
      cpus_.size() >= static_cast<std::size_t>(threads) ? cpus_ : std::vector<int>{};
  if (!cpus.empty()) keep_to({cpus[0]});
  for (int t = 1; t < threads; ++t)
    workers_.emplace_back([this, cpus, t] {
      if (!cpus.empty()) keep_to({cpus[static_cast<std::size_t>(t)]});
      work();
    });
}

Pool::~Pool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  if (!cpus_.empty()) keep_to(cpus_);
}

void Pool::take_tasks(Job& job) {
  for (std::size_t t; (t = job.next.fetch_add(1, std::memory_order_relaxed)) < job.tasks;) {
    try {
      job.task(t);
    } catch (...) {
      const std::lock_guard lock(job.mutex);
      if (t < job.failed) {
        job.failed = t;
        job.error = std::current_exception();
      }
    }
  }
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  for (std::size_t seen = 0;;) {
    wake_.wait(lock, [&] { return stop_ || (job_ != nullptr && job_number_ != seen); });
    if (stop_) return;
    seen = job_number_;
    Job& job = *job_;
    ++busy_;
    lock.unlock();
    take_tasks(job);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void Pool::run(std::size_t tasks, const std::function<void(std::size_t)>& task) {
  if (workers_.empty() || tasks <= 1) {
    for (std::size_t t = 0; t < tasks; ++t) task(t);
    return;
  }
  Job job(tasks, task);
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    ++job_number_;
  }
  wake_.notify_all();
  take_tasks(job);
  std::unique_lock lock(mutex_);
  job_ = nullptr;  // a worker that wakes only now finds nothing to do
  done_.wait(lock, [&] { return busy_ == 0; });
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace ticopd
