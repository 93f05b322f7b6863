#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "ticopd/capi/ticopd.h"
#include "ticopd/capi/turn.hpp"

namespace ticopd::capi {

// Work on a thread of its own that asks questions and waits for the answers. While it waits, the
// thread does nothing, and the caller may read all that the work has made. So algorithms, searches
// and metrics call an objective as always, and the caller is never called back.
class Conversation {
 public:
  Conversation() = default;
  ~Conversation() { close(); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // The caller's side.
  void begin(std::function<void()> work);  // on the thread; next() waits for it
  // TC_ASKS and a question, TC_WAIT, or TC_OK: the work is done. Rethrows what ended it.
  int next(std::uint64_t answered, double seconds, tc_question& question);
  bool busy() const { return !turn_.is_of(Turn::Of::caller) || state_ != State::idle; }
  // The work is done, without an error, and next() was not called since.
  bool ended_well() const {
    return turn_.is_of(Turn::Of::caller) && state_ == State::done && !error_;
  }
  // The work is done and next() was not called since: forgets it. Returns why it failed, or null.
  std::exception_ptr drop_result();
  // Waits until it does not; false after `seconds` (negative: as long as it takes).
  bool wait(double seconds) const;
  void give_up();      // the open question throws MeasuringStopped in the work
  void stop_asking();  // the same for this question and all that would follow
  void close();        // whatever the thread does, it ends
  // From now on every wait ends at once, that of another thread of the caller's, too. close() does
  // the rest when no such thread is left inside.
  void begin_closing();
  const std::atomic<bool>& closing() const { return closing_; }

  // The work's side, from any of its threads, one at a time. Returns when it is answered. Meanwhile
  // does what it is given; if that fails, the answer does not matter.
  void ask(tc_question question, const std::function<void()>& meanwhile = {});

 private:
  enum class State { idle, working, asking, done };
  struct Closed {};  // not an error: nobody is there to be told

  void run();

  mutable Turn turn_;
  // Written by whoever has the turn.
  std::atomic<State> state_{State::idle};
  tc_question question_{};
  std::uint64_t questions_ = 0;
  std::atomic<bool> given_up_{false};
  std::function<void()> work_;
  std::exception_ptr error_;

  // Beside an open question, which the caller answers.
  std::atomic<bool> busy_meanwhile_{false}, failed_meanwhile_{false};

  std::atomic<bool> closing_{false}, stopped_{false};
  std::mutex one_question_;
  std::thread thread_;
};

}  // namespace ticopd::capi
