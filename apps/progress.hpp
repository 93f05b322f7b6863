#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "ticopd/run/metrics.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd::app {

// Writes a line to stderr. If stderr is full or closed, the line is dropped and the run goes on.
// Control characters of labels and file names are shown, not obeyed (system/text.hpp).
template <class... Values>
void tell(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(printable(fmt::format(text, std::forward<Values>(values)...)).c_str(), stderr);
}

// The same to stdout; a lost line is found at the end (main.cpp). JSON has escapes of its own.
template <class... Values>
void show(fmt::format_string<Values...> text, Values&&... values) {
  fmt::print("{}", printable(fmt::format(text, std::forward<Values>(values)...)));
}
inline void show_json(const nlohmann::json& value) {
  fmt::print("{}", json_text(value));
}

// Warnings are printed even with --quiet.
inline bool is_warning(const std::string& text) {
  return text.starts_with("warning: ");
}

// The progress of several runs together. Its line is drawn below the line of the current run.
class Overall {
 public:
  Overall(std::size_t runs, double rounds) : runs_(runs), rounds_(rounds) {}

  // A run has ended. `made_here` is false if an earlier process made it: such a run takes no time
  // now and must not enter the ETA.
  void ended(double rounds, bool made_here);
  std::string line(double rounds_of_this_run, std::size_t width) const;

 private:
  std::size_t runs_, ended_ = 0;
  double rounds_, made_ = 0, before_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The content of the live line of a run.
struct RunState {
  std::string label;
  std::uint32_t round = 0, iterations = 1;
  std::optional<double> seconds_left;  // empty: not known yet
};
// The line in at most `width` columns. Count and ETA come first, then loss, accuracy, bits sent,
// the label, and a bar in what is left; a part is dropped only if it does not fit.
std::string progress_line(const RunState& run, const Metrics& last, std::size_t width);

// Draws a live line on a terminal. Elsewhere it draws nothing: logs and scripts read metrics.csv.
class Progress {
 public:
  Progress(std::string label, std::uint32_t iterations, bool quiet,
           const Overall* overall = nullptr);
  ~Progress();

  void logged(const Metrics& m);
  void round(std::uint32_t round);
  void say(const std::string& text);  // a separate line; with `quiet` only warnings
  void clear();                       // removes the live line
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

// Draws `line`, and `below` under it, over the previous drawing. Both are cut to the terminal's
// width.
void draw_live(const std::string& line, const std::string& below);
void clear_live();
bool live();  // true if stderr is a terminal, or launch says that one shows it
std::size_t terminal_width();
// `ticopd launch` sets this variable to the width of its terminal. A rank cannot ask for the width
// itself: it writes to mpirun's pipe, and mpirun writes to the terminal.
constexpr const char* terminal_variable = "TICOPD_TERMINAL";

std::string duration(double seconds);  // 1:05, 2:03:04
std::string bits(double bits);         // 12.3 Mbit

}  // namespace ticopd::app
