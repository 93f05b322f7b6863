#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Ranks as threads of one process, with mailboxes between them. Every frame is built, checked and
// copied as between machines, so the distributed path can be tested anywhere.
class ThreadRanks {
 public:
  ThreadRanks(int ranks, double deadline_s);

  Transport& rank(int r) { return *ranks_[static_cast<std::size_t>(r)]; }

  // Rank r has failed: every rank that waits for a frame, now or later, gets Interrupted.
  void abandon(int r, const std::string& why);

 private:
  class Rank;
  struct Letter {
    Bytes frame;
    double at;
  };
  using Box = std::tuple<int, int, std::uint32_t>;  // from, to, channel

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Box, std::deque<Letter>> boxes_;
  std::string lost_;
  std::chrono::duration<double> deadline_;
  std::vector<std::unique_ptr<Transport>> ranks_;
};

}  // namespace ticopd
