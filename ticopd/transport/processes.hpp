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
// They need a way to end. The first process that leaves with an error makes mpirun kill the others,
// so nobody may leave before all have written what they have to write; and nobody may wait for one
// that is dead. Where a rank fails it calls `abandon`: the others throw the same kind of error as
// soon as they wait for anything. Then all of them call `part`, and rank 0, once it has said what
// happened, `let_go`.
class Processes : public Transport {
 public:
  virtual std::string kind() const = 0;           // its name in the table of transports
  virtual std::string library() const = 0;        // "Open MPI 4.1.4"
  virtual std::string host(int rank) const = 0;   // where it runs
  virtual int sharers() const = 0;                // ranks that use the processors I may use, me too
  virtual bool progresses() const = 0;            // frames move while nobody waits for them
  virtual void set_deadline(double seconds) = 0;  // of every wait

  // All went well here: waits until it did everywhere, and ends the use of the library.
  virtual void close() = 0;

  // Called, from a thread of its own, where this rank can neither go on nor throw, because it hangs
  // inside the library with a lost peer: must end the process.
  std::function<void(const std::string& what)> on_emergency;
  // Called before that; empty: nothing to flush any more.
  void flush_by(std::function<void()> flush) {
    const std::lock_guard lock(flush_mutex_);
    flush_ = std::move(flush);
  }

  // A rank whose process is known to have ended without a word, and where it ran; empty: none.
  virtual std::string lost() const = 0;

  struct Reason {
    int rank;
    std::string why;
  };
  struct Parting {
    bool told = true;             // not rank 0: rank 0 was there, and has said what happened
    std::vector<Reason> reasons;  // rank 0: what others failed of, each by itself
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
