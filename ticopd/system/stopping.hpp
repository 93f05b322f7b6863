#pragma once

#include <atomic>

namespace ticopd {

// Says, for a scope, by which flag the work of this thread is asked to stop. Reading from a pipe
// and waiting for another program or a lock look at it: they may take for ever, and have no other
// way to hear a signal. The innermost scope with a flag counts.
class StopScope {
 public:
  explicit StopScope(const std::atomic<bool>* flag) : before_(current()) {
    if (flag != nullptr) current() = flag;
  }
  ~StopScope() { current() = before_; }
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static bool asked() { return current() != nullptr && current()->load(); }

 private:
  static const std::atomic<bool>*& current() {
    static thread_local const std::atomic<bool>* flag = nullptr;
    return flag;
  }

  const std::atomic<bool>* before_;
};

}  // namespace ticopd
