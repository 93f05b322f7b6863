#pragma once

#include "ticopd/system/clock.hpp"

namespace ticopd {

// The time a run takes, without the time in which nobody steps it.
class Stopwatch {
 public:
  // It runs while one of these lives.
  class Running {
   public:
    explicit Running(Stopwatch& watch) : watch_(watch) {
      if (watch_.running_++ == 0) watch_.since_ = seconds_now();
    }
    ~Running() {
      if (--watch_.running_ == 0) watch_.spent_ += seconds_now() - watch_.since_;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Stopwatch& watch_;
  };

  void begin_at(double seconds) { before_ = seconds; }  // of earlier parts of the run
  double before() const { return before_; }
  double seconds() const { return before_ + spent_ + (running_ > 0 ? seconds_now() - since_ : 0); }

 private:
  double before_ = 0, spent_ = 0, since_ = 0;
  int running_ = 0;
};

}  // namespace ticopd
