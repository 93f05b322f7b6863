#include "ticopd/system/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/descriptor.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& file) {
  std::error_code error;
  return ::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file, error);
}

std::string start_of(int fd) {
  std::string text(64 << 10, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

// The first lines with text, joined: the last lines of npm only name its log.
std::string complaint(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty())
    if (const std::string_view line = trimmed(take_line(text)); !line.empty())
      lines.push_back(line);
  const std::size_t keep = std::min<std::size_t>(lines.size(), 3);
  return fmt::format("{}", fmt::join(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(keep), "; "))
      .substr(0, 400);
}

std::string ending(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

// The child alone calls this, between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* file, char* const* arguments, const char* folder, int output,
                         pid_t parent) {
  ::setpgid(0, 0);  // its own children end with it, and the terminal's Ctrl-C is ours to pass on
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent died before prctl
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (const int number : {SIGPIPE, SIGXFSZ, SIGHUP}) ::sigaction(number, &usual, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (::chdir(folder) == 0) ::execv(file, arguments);
  ::_exit(127);
}

// The status of waitpid, or -1 if the program had to be killed.
int wait_for(pid_t child, int seconds, const std::atomic<bool>* stop) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (int status = 0;;) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) return status;
    if (done < 0 && errno != EINTR) return -1;
    const bool stopped = StopScope::asked() || (stop != nullptr && stop->load());
    if (stopped || std::chrono::steady_clock::now() > until) {
      ::kill(-child, SIGKILL);  // the group: npm and curl have children of their own
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

fs::path find_program(std::string_view name) {
  if (name.find('/') != std::string_view::npos) {
    const fs::path file(name);
    return file.is_absolute() && is_executable(file) ? file : fs::path();
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / name; file.is_absolute() && is_executable(file))
      return file;
  return {};
}

fs::path file_of_variable(const char* variable, Named named) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  const auto refuse = [&](const std::string& why) {
    throw UnavailableError(fmt::format("{} = \"{}\": {}", variable, value, why));
  };
  const bool name = named == Named::path_or_name && std::strchr(value, '/') == nullptr;
  if (!name && !fs::path(value).is_absolute())
    refuse(named == Named::path_or_name ? "allowed is an absolute path, or a name on PATH"
                                        : "allowed is an absolute path");
  std::error_code error;
  const fs::path file = name ? find_program(value) : fs::path(value);
  if (name && file.empty()) refuse("no such program on PATH");
  if (!fs::exists(file, error)) refuse("there is no such file");
  if (!fs::is_regular_file(file, error)) refuse("is not a file");
  return file;
}

Outcome run_program(const std::vector<std::string>& words, const fs::path& folder, int seconds,
                    const std::atomic<bool>* stop) {
  const fs::path file = find_program(words[0]);
  if (file.empty()) return {false, "not installed"};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // In memory: a full disk must not hide what the program had to say.
  const Descriptor output(::memfd_create("output", MFD_CLOEXEC));
  if (output.get() < 0) return {false, std::strerror(errno)};
  const pid_t us = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return {false, std::strerror(errno)};
  if (child == 0) become(file.c_str(), arguments.data(), folder.c_str(), output.get(), us);
  ::setpgid(child, child);  // both call it: either may run first
  const int status = wait_for(child, seconds, stop);
  if (status == -1 && (StopScope::asked() || (stop != nullptr && stop->load())))
    throw Interrupted(fmt::format("interrupted while {} ran", file.filename().string()));
  Outcome outcome{status == 0, {}, start_of(output.get())};
  if (status == 0) return outcome;
  outcome.reason =
      status == -1 ? fmt::format("not done after {} s", seconds) : complaint(outcome.output);
  if (outcome.reason.empty()) outcome.reason = ending(status);
  return outcome;
}

}  // namespace ticopd
