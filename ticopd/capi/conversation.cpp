#include "ticopd/capi/conversation.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/network/row_metrics.hpp"

namespace ticopd::capi {
namespace {

// Signals are for the caller's threads: Python hears Ctrl-C in its main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

void Conversation::begin(std::function<void()> work) {
  work_ = std::move(work);
  state_ = State::working;
  turn_.give_to(Turn::Of::worker);
  if (thread_.joinable()) return;
  const SignalsBlocked blocked;  // a new thread inherits the mask
  thread_ = std::thread([this] { run(); });
}

void Conversation::run() {
  for (;;) {
    turn_.wait_for(Turn::Of::worker);
    if (closing_) return;
    try {
      work_();
    } catch (const Closed&) {
      return;
    } catch (...) {
      error_ = std::current_exception();
    }
    state_ = State::done;
    turn_.give_to(Turn::Of::caller);
  }
}

void Conversation::ask(tc_question question, const std::function<void()>& meanwhile) {
  const std::lock_guard lock(one_question_);  // trials of a search run side by side
  if (closing_) throw Closed();
  if (stopped_) throw MeasuringStopped();
  question_ = question;
  question_.number = ++questions_;
  given_up_ = false;
  state_ = State::asking;
  busy_meanwhile_ = static_cast<bool>(meanwhile);
  turn_.give_to(Turn::Of::caller);
  std::exception_ptr failed;
  if (meanwhile) {
    try {
      meanwhile();
    } catch (...) {
      failed = std::current_exception();
      failed_meanwhile_ = true;
    }
    busy_meanwhile_ = false;
    busy_meanwhile_.notify_all();
  }
  turn_.wait_for(Turn::Of::worker);
  failed_meanwhile_ = false;
  if (closing_) throw Closed();
  if (failed) std::rethrow_exception(failed);
  if (given_up_) throw MeasuringStopped();
}

bool Conversation::wait(double seconds) const {
  if (!turn_.wait_for(Turn::Of::caller, seconds)) return false;
  busy_meanwhile_.wait(true);  // short, and it asks nobody
  return true;
}

int Conversation::next(std::uint64_t answered, double seconds, tc_question& question) {
  if (!busy()) return TC_OK;
  if (turn_.is_of(Turn::Of::caller) && state_ == State::asking) {
    const bool is_answered = answered == question_.number || given_up_;
    if (!is_answered) busy_meanwhile_.wait(true);  // after an exception: did the work fail?
    if (is_answered || failed_meanwhile_) {
      state_ = State::working;
      turn_.give_to(Turn::Of::worker);
    }
  }
  if (!turn_.wait_for(Turn::Of::caller, seconds)) return TC_WAIT;
  if (closing_) throw UsageError("this handle was closed by another thread");
  if (state_ == State::asking) {
    question = question_;
    return TC_ASKS;
  }
  state_ = State::idle;
  work_ = {};
  if (error_) std::rethrow_exception(std::exchange(error_, {}));
  return TC_OK;
}

std::exception_ptr Conversation::drop_result() {
  if (!turn_.is_of(Turn::Of::caller) || state_ != State::done) return nullptr;
  state_ = State::idle;
  work_ = {};
  return std::exchange(error_, {});
}

void Conversation::give_up() {
  given_up_ = true;
}

void Conversation::stop_asking() {
  stopped_ = true;
  if (turn_.is_of(Turn::Of::caller) && state_ == State::asking) given_up_ = true;
}

void Conversation::begin_closing() {
  closing_ = true;
  turn_.end();
}

void Conversation::close() {
  begin_closing();
  if (thread_.joinable()) thread_.join();  // computes until its next question, or to the end
}

}  // namespace ticopd::capi
