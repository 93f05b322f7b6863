#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "ticopd/run/metrics.hpp"

namespace ticopd::app {

// A line on standard error. Where that is full or closed nobody can be told, and no run ends of it.
template <class... Values>
void tell(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), stderr);
}

// Warnings are said to those who asked for quiet, too.
inline bool is_warning(const std::string& text) {
  return text.starts_with("warning: ");
}

// How far several runs are together: the line below the line of the run at hand.
class Overall {
 public:
  Overall(std::size_t runs, double rounds) : runs_(runs), rounds_(rounds) {}

  // A run has ended: made here, or before this program was started.
  void ended(double rounds, bool made_here);
  std::string line(double rounds_of_this_run) const;

 private:
  std::size_t runs_, ended_ = 0;
  double rounds_, made_ = 0, before_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A live line on a terminal, and nothing elsewhere: logs and scripts read metrics.csv.
class Progress {
 public:
  Progress(std::string label, std::uint32_t iterations, bool quiet,
           const Overall* overall = nullptr);
  ~Progress();

  void logged(const Metrics& m);
  void round(std::uint32_t round);
  void say(const std::string& text);  // a line of its own; of a quiet one only warnings
  void clear();                       // takes the live line away
  const std::optional<Metrics>& last() const { return last_; }

 private:
  void draw();

  std::string label_;
  std::uint32_t iterations_;
  bool quiet_;
  const Overall* overall_;
  bool terminal_;
  bool drawn_ = false;
  std::optional<Metrics> last_;
  std::uint32_t round_ = 0;
  std::uint32_t first_round_ = 0;
  bool started_ = false;
  std::chrono::steady_clock::time_point begin_, drawn_at_;
};

// Draws a line (and another below it) over what was drawn before, cut to the terminal's width.
void draw_live(const std::string& line, const std::string& below);
void clear_live();
bool live();  // whether anyone is looking
std::size_t terminal_width();
// Set by `ticopd launch` to its terminal's width: a rank writes to mpirun's pipe, and mpirun to the
// terminal.
constexpr const char* terminal_variable = "TICOPD_TERMINAL";

std::string duration(double seconds);  // 1:05, 2:03:04
std::string bits(double bits);         // 12.3 Mbit

}  // namespace ticopd::app
