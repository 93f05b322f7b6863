#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "ticopd/experiment/metrics.hpp"

namespace ticopd::app {

// A live line on a terminal, and nothing elsewhere: logs and scripts read metrics.csv.
class Progress {
 public:
  Progress(std::string label, std::uint32_t iterations, bool quiet);
  ~Progress();

  void logged(const Metrics& m);
  void round(std::uint32_t round);
  void say(const std::string& text);  // a line of its own
  void clear();                       // takes the live line away
  const std::optional<Metrics>& last() const { return last_; }

 private:
  void draw();

  std::string label_;
  std::uint32_t iterations_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::optional<Metrics> last_;
  std::uint32_t round_ = 0;
  std::uint32_t first_round_ = 0;
  bool started_ = false;
  std::chrono::steady_clock::time_point begin_, drawn_at_;
};

std::string duration(double seconds);  // 1:05, 2:03:04
std::string bits(double bits);         // 12.3 Mbit

}  // namespace ticopd::app
