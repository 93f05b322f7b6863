#include "apps/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ticopd/report/line.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd::app {
namespace {

// Made printable first: one character that a terminal must not obey is shown by several.
std::string cut(const std::string& line, std::size_t width) {
  return shortened(printable(line), width, width);
}

}  // namespace

std::string duration(double seconds) {
  const long s = std::lround(std::max(0.0, seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string bits(double bits) {
  if (bits < 1e6) return fmt::format("{:.1f} kbit", bits / 1e3);
  if (bits < 1e9) return fmt::format("{:.1f} Mbit", bits / 1e6);
  return fmt::format("{:.2f} Gbit", bits / 1e9);
}

std::size_t terminal_width() {
  // One column less than the terminal has: a full line would wrap. Some terminals say 0.
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) return size.ws_col - 1u;
  const char* told = std::getenv(terminal_variable);
  return told != nullptr && std::atoi(told) > 0 ? static_cast<std::size_t>(std::atoi(told)) : 79u;
}

bool live() {
  return isatty(STDERR_FILENO) == 1 || std::getenv(terminal_variable) != nullptr;
}

void draw_live(const std::string& line, const std::string& below) {
  const std::size_t width = terminal_width();
  // ESC [J clears from here to the end of the screen; ESC [1A moves one line up.
  std::fputs("\r\033[J", stderr);
  tell("{}", cut(line, width));
  if (below.empty()) {
    std::fflush(stderr);
    return;
  }
  tell("\n{}", cut(below, width));
  std::fputs("\033[1A\r", stderr);
  std::fflush(stderr);
}

void clear_live() {
  std::fputs("\r\033[J", stderr);
  std::fflush(stderr);
}

void Overall::ended(double rounds, bool made_here) {
  ++ended_;
  (made_here ? made_ : before_) += rounds;
}

// The ETA comes from the rounds made by this process: earlier ones took no time here.
std::string Overall::line(double rounds_of_this_run, std::size_t width) const {
  const double made = made_ + rounds_of_this_run;
  const double left = rounds_ - before_ - made;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  const std::string eta = made > 0 ? duration(spent.count() / made * left) : "?";
  const LinePart parts[] = {
      {fmt::format("run {} of {}", ended_ + 1, runs_), 0},
      {fmt::format("{:.0f} % of all rounds", 100 * (before_ + made) / rounds_), 2},
      {fmt::format("ETA of all {}", eta), 1}};
  return fitted_line(parts, width);
}

std::string progress_line(const RunState& run, const Metrics& last, std::size_t width) {
  const auto loss = last.loss_max ? last.loss_max : last.loss_local;
  const std::string at = last.iteration == run.round ? "" : fmt::format("at {}: ", last.iteration);
  const std::string left = run.seconds_left ? duration(*run.seconds_left) : "?";
  enum { count, eta, quality, accuracy, sent, label };  // by priority
  constexpr std::size_t shortest_label = 8, longest_bar = 20;
  std::vector<LinePart> parts{
      {printable(run.label), label, shortest_label},
      {fmt::format("{}/{}", run.round, run.iterations), count},
      {at + (loss ? fmt::format("loss {:.4g}", *loss)
                  : fmt::format("consensus {:.3g}", last.consensus)),
       quality},
      {last.accuracy_min ? fmt::format("accuracy {:.3f}", *last.accuracy_min) : "", accuracy, 0,
       quality},
      {fmt::format("sent {}", bits(last.bits_payload)), sent, 0, quality},
      {fmt::format("ETA {}", left), eta}};
  const std::string line = fitted_line(parts, width);
  // The bar is as long as the rest of the line allows, and is left out below five signs.
  const std::size_t used = characters(line) + 4;
  const std::size_t room = std::min(longest_bar, width - std::min(width, used));
  if (room < 5) return line;
  const std::size_t full = std::min<std::size_t>(
      room, static_cast<std::size_t>(static_cast<double>(room) * run.round / run.iterations));
  return fmt::format("{}  [{}{}]", line, std::string(full, '#'), std::string(room - full, '.'));
}

Progress::Progress(std::string label, std::uint32_t iterations, bool quiet, const Overall* overall)
    : label_(std::move(label)),
      iterations_(iterations),
      quiet_(quiet),
      overall_(overall),
      terminal_(live()),
      begin_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  clear();
}

void Progress::clear() {
  if (!drawn_) return;
  clear_live();
  drawn_ = false;
}

void Progress::say(const std::string& text) {
  if (quiet_ && !is_warning(text)) return;
  clear();
  tell("{}\n", text);
}

void Progress::logged(const Metrics& m) {
  last_ = m;
  round_ = m.iteration;
  draw();
}

void Progress::round(std::uint32_t round) {
  round_ = round;
  draw();
}

void Progress::draw() {
  const auto now = std::chrono::steady_clock::now();
  if (!started_) {  // the first round: the ETA excludes loading the data
    started_ = true;
    begin_ = now;
    first_round_ = round_;
  }
  if (quiet_ || !terminal_ || !last_ || now - drawn_at_ < std::chrono::milliseconds(100)) return;
  drawn_at_ = now;
  const double spent = std::chrono::duration<double>(now - begin_).count();
  const double done = static_cast<double>(round_ - first_round_);
  RunState state{label_, round_, iterations_, {}};
  if (done > 0) state.seconds_left = spent / done * static_cast<double>(iterations_ - round_);
  const std::size_t width = terminal_width();
  draw_live(progress_line(state, *last_, width), overall_ ? overall_->line(done, width) : "");
  drawn_ = true;
}

}  // namespace ticopd::app
