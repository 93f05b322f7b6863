#include "apps/mpirun_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

constexpr std::size_t shortest_rule = 20;
constexpr int longest_block = 60;  // lines; a longer one is no paragraph of mpirun

// Lines that MPICH writes below its block.
constexpr std::string_view tails[] = {"YOUR APPLICATION TERMINATED WITH THE EXIT STRING",
                                      "This typically refers to a problem with your application",
                                      "Please see the FAQ page for debugging suggestions"};

bool only(std::string_view line, char c) {
  return line.find_first_not_of(c) == std::string_view::npos;
}

bool is_rule(std::string_view line, char c) {
  return line.size() >= shortest_rule && only(line, c);
}

bool may_become_ours(std::string_view line) {
  if (only(line, '-') || only(line, '=')) return true;
  return std::ranges::any_of(tails, [&](std::string_view tail) {
    return line.starts_with(tail) || tail.starts_with(line);
  });
}

}  // namespace

std::string ParagraphFilter::pass(std::string_view text) {
  std::string shown;
  for (const char c : text) take(c, shown);
  return shown;
}

void ParagraphFilter::take(char c, std::string& shown) {
  if (passing_) {
    shown += c;
    passing_ = c != '\n';
    return;
  }
  if (c == '\n') return end_line(shown);
  line_ += c;
  if (rule_ != 0 || may_become_ours(line_)) return;
  shown += line_;
  line_.clear();
  passing_ = true;
}

void ParagraphFilter::end_line(std::string& shown) {
  const bool tail =
      std::ranges::any_of(tails, [&](std::string_view t) { return line_.starts_with(t); });
  const char rule = is_rule(line_, '-') ? '-' : is_rule(line_, '=') ? '=' : char{0};
  if (rule_ == 0 && rule == 0 && !tail) {
    shown += line_ + "\n";
  } else {
    held_ += line_ + "\n";
    if (rule_ == 0 || rule == rule_) {
      rule_ = rule_ == 0 ? rule : char{0};
      lines_ = 0;
    } else if (++lines_ > longest_block) {
      shown += std::exchange(held_, {});
      rule_ = 0;
    }
  }
  line_.clear();
}

std::string ParagraphFilter::rest() {
  if (rule_ == 0) return std::exchange(line_, {});
  held_ += std::exchange(line_, {});
  return {};
}

FilteredErrors::FilteredErrors() {
  if (::pipe2(ends_, O_CLOEXEC) != 0 || ::pipe2(wake_, O_CLOEXEC) != 0)
    throw UnavailableError(std::string("launch: ") + std::strerror(errno));
}

FilteredErrors::~FilteredErrors() {
  finish();
  for (const int fd : {ends_[0], ends_[1], wake_[0], wake_[1]})
    if (fd >= 0) ::close(fd);
}

void FilteredErrors::begin() {
  ::close(std::exchange(ends_[1], -1));
  reader_ = std::thread([this] {
    const auto show = [](const std::string& text) {
      std::fwrite(text.data(), 1, text.size(), stderr);
      std::fflush(stderr);
    };
    pollfd sources[] = {{ends_[0], POLLIN, 0}, {wake_[0], POLLIN, 0}};
    char bytes[4096];
    for (;;) {
      if (::poll(sources, 2, -1) < 0 && errno != EINTR) break;
      if ((sources[0].revents & (POLLIN | POLLHUP)) != 0) {
        const ssize_t got = ::read(ends_[0], bytes, sizeof bytes);
        if (got <= 0) break;
        show(filter_.pass({bytes, static_cast<std::size_t>(got)}));
      } else if (sources[1].revents != 0) {
        break;  // mpirun has ended, and a rank that outlives it keeps the pipe open
      }
    }
    show(filter_.rest());
  });
}

std::string FilteredErrors::finish() {
  if (!reader_.joinable()) return filter_.held();
  ::close(std::exchange(wake_[1], -1));
  reader_.join();
  return filter_.held();
}

}  // namespace ticopd::app
