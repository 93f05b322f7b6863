#include "ticopd/system/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/file.hpp"

extern char** environ;

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// The first lines with text, joined: the last lines of npm only name its log.
std::string complaint(const fs::path& log) {
  const std::string bytes = read_bytes(log);
  std::vector<std::string_view> lines;
  for (std::string_view text = bytes; !text.empty();)
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

// The status of waitpid, or -1 if the program had to be killed.
int wait_for(pid_t child, int seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (int status = 0;;) {
    const pid_t done = ::waitpid(child, &status, WNOHANG);
    if (done == child) return status;
    if (done < 0 && errno != EINTR) return -1;
    if (std::chrono::steady_clock::now() > until) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

Outcome run_program(const std::vector<std::string>& words, const fs::path& folder, int seconds) {
  const fs::path log = folder / (fs::path(words[0]).filename().string() + ".log");
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) return {false, "not installed"};
  if (error != 0) return {false, std::strerror(error)};
  const int status = wait_for(child, seconds);
  if (status == 0) return {true, {}};
  if (status == -1) return {false, fmt::format("not done after {} s", seconds)};
  const std::string said = complaint(log);
  return {false, said.empty() ? ending(status) : said};
}

}  // namespace ticopd
