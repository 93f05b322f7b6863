#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "ticopd/capi/call.hpp"
#include "ticopd/error.hpp"

namespace ticopd::capi {

// The objects behind handles. A handle looks like a pointer, but is a number that is used once.
// So a handle that was closed, is of another kind, or was made before a fork is noticed, and
// nothing is read through it. Whoever uses the object keeps it alive, also while another thread
// closes it.
class Held {
 public:
  Held();
  virtual ~Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  bool of_this_process() const;
  std::atomic<bool> in_use{false};  // by a thread of the caller's

 private:
  const unsigned process_;
};

void* handle_of(std::shared_ptr<Held> object);     // a new one
std::shared_ptr<Held> held(const void* handle);    // null if there is none such
std::shared_ptr<Held> forget(const void* handle);  // the same; it is no handle from now on

template <class T>
T* new_handle(std::shared_ptr<T> object) {
  return static_cast<T*>(handle_of(std::move(object)));
}

// The object of a handle, for calls that may come from any thread. UsageError if there is none.
template <class T>
std::shared_ptr<T> find(const T* handle, const char* what) {
  require(handle, what);
  auto found = std::dynamic_pointer_cast<T>(held(handle));
  if (!found)
    throw UsageError(fmt::format("{0}: this handle was closed, or is none of a {0}", what));
  if (!found->of_this_process())
    throw UsageError(fmt::format(
        "this {} belongs to the process that forked this one; make it anew here", what));
  return found;
}

// Ends a handle. Null if there is nothing to close: it was closed, or belongs to the parent
// process.
template <class T>
std::shared_ptr<T> close_handle(const T* handle) {
  auto found = std::dynamic_pointer_cast<T>(held(handle));
  if (!found || !found->of_this_process()) return nullptr;
  return std::dynamic_pointer_cast<T>(forget(handle));  // null if another thread was faster
}

// Closes an object that holds a conversation: ends the wait of a thread that is inside, and waits
// until that thread has left.
template <class T>
void close(T& object) {
  object.conversation.begin_closing();
  while (object.in_use) std::this_thread::sleep_for(std::chrono::microseconds(50));
  object.conversation.close();
}

// The use of an object by one thread, for the time of one call.
template <class T>
class Use {
 public:
  Use(const T* handle, const char* what) : object_(find(handle, what)) {
    if (object_->in_use.exchange(true))
      throw UsageError(fmt::format("this {} is used by another thread; one at a time", what));
  }
  ~Use() { object_->in_use = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }

 private:
  std::shared_ptr<T> object_;
};

}  // namespace ticopd::capi
