#include "apps/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace ticopd::app {

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
  // One column less than the terminal has: a full line would wrap.
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col - 1u;
  const char* told = std::getenv(terminal_variable);
  return told != nullptr && std::atoi(told) > 20 ? static_cast<std::size_t>(std::atoi(told)) : 79u;
}

bool live() {
  return isatty(STDERR_FILENO) == 1 || std::getenv(terminal_variable) != nullptr;
}

void draw_live(const std::string& line, const std::string& below) {
  const std::size_t width = terminal_width();
  // ESC [J clears from here to the end of the screen; ESC [1A moves one line up.
  std::fputs("\r\033[J", stderr);
  tell("{}", line.substr(0, width));
  if (below.empty()) {
    std::fflush(stderr);
    return;
  }
  tell("\n{}", below.substr(0, width));
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
std::string Overall::line(double rounds_of_this_run) const {
  const double made = made_ + rounds_of_this_run;
  const double left = rounds_ - before_ - made;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  return fmt::format("run {} of {}  {:.0f} % of all rounds  ETA of all {}", ended_ + 1, runs_,
                     100 * (before_ + made) / rounds_,
                     made > 0 ? duration(spent.count() / made * left) : "?");
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
  const std::string left = done > 0
                               ? duration(spent / done * static_cast<double>(iterations_ - round_))
                               : std::string("?");
  const auto loss = last_->loss_max ? last_->loss_max : last_->loss_local;
  std::string metrics =
      loss ? fmt::format("loss {:.4g}", *loss) : fmt::format("consensus {:.3g}", last_->consensus);
  if (last_->accuracy_min) metrics += fmt::format("  accuracy {:.3f}", *last_->accuracy_min);
  metrics += fmt::format("  sent {}", bits(last_->bits_payload));
  if (last_->iteration != round_) metrics = fmt::format("at {}: {}", last_->iteration, metrics);
  const std::string count = fmt::format("{}/{}", round_, iterations_);
  const std::size_t width = terminal_width();
  constexpr std::size_t bar = 20;
  const auto full = static_cast<std::size_t>(static_cast<double>(bar) * round_ / iterations_);
  const std::string drawing = std::string(full, '#') + std::string(bar - full, '.');
  // Take the longest line that fits. The count and the ETA are dropped last.
  std::string line = fmt::format("{}  {}  {}  ETA {}  [{}]", label_, count, metrics, left, drawing);
  if (line.size() > width) line = fmt::format("{}  {}  {}  ETA {}", label_, count, metrics, left);
  if (line.size() > width) line = fmt::format("{}  {}  ETA {}", count, metrics, left);
  if (line.size() > width) line = fmt::format("{}  ETA {}", count, left);
  draw_live(line, overall_ ? overall_->line(done) : "");
  drawn_ = true;
}

}  // namespace ticopd::app
