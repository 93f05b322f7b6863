#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Ranks that are processes, started together by something like mpirun.
//
// They must end together. The first process that exits with an error makes mpirun kill the others,
// so no rank may exit before all have written their files; and no rank may wait for a dead one. A
// rank that fails calls `abandon`; the others throw the same kind of error at their next wait. Then
// all call `part`, and rank 0 calls `let_go` after it has reported what happened.
class Processes : public Transport {
 public:
  virtual std::string kind() const = 0;           // its name in the table of transports
  virtual std::string library() const = 0;        // "Open MPI 4.1.4"
  virtual std::string host(int rank) const = 0;   // where it runs
  virtual int sharers() const = 0;                // ranks that use the processors I may use, me too
  virtual bool progresses() const = 0;            // frames move while nobody waits for them
  virtual void set_deadline(double seconds) = 0;  // of every wait

  // This rank succeeded: waits until all have, and ends the use of the library.
  virtual void close() = 0;

  // Called from another thread when this rank hangs inside the library with a lost peer and can
  // neither go on nor throw. Must end the process.
  std::function<void(const std::string& what)> on_emergency;
  // Called before that; empty: nothing to flush any more.
  void flush_by(std::function<void()> flush) {
    const std::lock_guard lock(flush_mutex_);
    flush_ = std::move(flush);
  }

  // A rank whose process has ended without a farewell, and its machine; empty: none.
  virtual std::string lost() const = 0;

  struct Reason {
    int rank;
    std::string why;
  };
  struct Parting {
    bool told = true;             // ranks but 0: rank 0 was reached and has reported the failure
    std::vector<Reason> reasons;  // rank 0: the failures of other ranks
  };
  virtual Parting part() = 0;  // waits some seconds at most
  virtual void let_go() = 0;

 protected:
  void emergency(const std::string& what) {
    if (!on_emergency) return;
    {
      const std::lock_guard lock(flush_mutex_);
      try {
        if (flush_) flush_();
      } catch (const std::exception&) {  // the disk, too: there is nobody left to tell
      }
    }
    on_emergency(what);
  }

 private:
  std::mutex flush_mutex_;
  std::function<void()> flush_;
};

}  // namespace ticopd
