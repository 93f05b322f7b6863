#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/report/report.hpp"

namespace ticopd {

// What the clients of a live page get: the report, and then what changes in it, as server-sent
// events (docs/report.md). A client that is slow skips states between: nothing is queued for it.
class Feed {
 public:
  explicit Feed(std::string token) : token_(std::move(token)) {}

  void set(const Collection& now, bool running);  // by the thread that watches the folders
  void close();                                   // no client waits any more

  std::string report() const;  // JSON
  std::string page() const;    // HTML; empty if this build has no page

  // What a client was sent last.
  struct Position {
    std::uint64_t version = 0, shape = 0;
    std::vector<std::size_t> rows;  // of each run
    nlohmann::json sites;
    bool told_end = false;
    std::chrono::steady_clock::time_point sent_at = {};
  };
  // The text of the next events for this client; waits for it, but not long: it may be empty.
  // Nothing once the feed is closed.
  std::optional<std::string> next(Position& client) const;

 private:
  // A state of the folders. `shape` changes with everything that new rows alone cannot say.
  struct State {
    Collection collection;
    std::vector<std::size_t> columns;  // those shown
    std::uint64_t version = 0, shape = 0;
    bool running = true;
  };
  static bool only_rows_came(const Collection& before, const Collection& now);
  std::shared_ptr<const State> state() const;
  std::string report_of(const State& state) const;
  std::string events(const State& state, Position& client) const;

  std::string token_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::shared_ptr<const State> state_;
  bool closed_ = false;
  mutable std::mutex reports_;  // one thread makes the report, the others wait and share it
  mutable std::uint64_t report_version_ = 0;
  mutable std::string report_;
};

}  // namespace ticopd
