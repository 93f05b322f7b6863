#include "apps/mpirun_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "apps/progress.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The signals that ask us to stop. They wait until they are taken, here and nowhere else, so there
// is no handler that they could interrupt.
class AskedToStop {
 public:
  AskedToStop() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) sigaddset(&signals_, signal);
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)  // nohup
      sigaddset(&signals_, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~AskedToStop() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  AskedToStop(const AskedToStop&) = delete;
  AskedToStop& operator=(const AskedToStop&) = delete;

  // Waits a moment for a signal or the end of a child; true: one that asks us to stop.
  bool within_a_moment() const {
    const timespec moment{0, 200'000'000};
    const int signal = ::sigtimedwait(&signals_, nullptr, &moment);
    return signal > 0 && signal != SIGCHLD;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t signals_{}, before_{};
};

// mpirun in a process group of its own: Ctrl-C of the terminal reaches us alone, and we say what
// comes of it. It ends when we do, whatever ends us.
pid_t start(const std::vector<std::string>& words, const fs::path& notes, const sigset_t& mask) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t us = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw UnavailableError(fmt::format("launch: {}", std::strerror(errno)));
  if (child > 0) {
    ::setpgid(child, child);  // both sides do it: whoever comes first
    return child;
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != us) ::_exit(127);
  ::setenv(notes_variable, notes.c_str(), 1);
  if (live()) ::setenv(terminal_variable, std::to_string(terminal_width()).c_str(), 1);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE}) std::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  // A background process that reads from the terminal would be stopped.
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::execv(arguments[0], arguments.data());
  tell("{}: {}\n", words[0], std::strerror(errno));
  ::_exit(127);
}

// Until mpirun has ended. The first signal becomes SIGUSR1, which both MPIs hand to every rank:
// they finish the round, save and end. The second ends them within two seconds, the third at once.
class Watch {
 public:
  Watch(pid_t mpirun, fs::path notes) : mpirun_(mpirun), notes_(std::move(notes)) {}

  Observed until_the_end(const AskedToStop& signals) {
    Observed seen;
    while (::waitpid(mpirun_, &seen.status, WNOHANG) != mpirun_) {
      if (signals.within_a_moment()) pass_on();
      end_what_hangs();
    }
    seen.notes = read_notes(notes_);
    seen.asked = asked_ > 0;
    return seen;
  }

 private:
  void pass_on() {
    ++asked_;
    if (asked_ == 1) {
      tell("ticopd: stopping after this round; once more to end at once\n");
      ::kill(mpirun_, SIGUSR1);
    } else if (asked_ == 2) {
      ::kill(mpirun_, SIGTERM);
    } else {
      ::kill(-mpirun_, SIGKILL);
    }
  }

  // Open MPI waits for ever for a machine that went silent, when all ranks it can reach have given
  // up, and SIGTERM does not help then. A rank that fails makes it end the others within two
  // seconds; more is hanging.
  void end_what_hangs() {
    if (!failed_at_) {
      if (read_notes(notes_).failed) failed_at_ = Clock::now();
    } else if (Clock::now() - *failed_at_ > std::chrono::seconds(3)) {
      ::kill(-mpirun_, SIGKILL);
    }
  }

  pid_t mpirun_;
  fs::path notes_;
  int asked_ = 0;
  std::optional<Clock::time_point> failed_at_;
};

}  // namespace

Observed run_mpirun(const std::vector<std::string>& words, const fs::path& notes,
                    const std::atomic<bool>& stop) {
  const AskedToStop signals;
  if (stop) throw Interrupted("launch: interrupted before it began");
  begin_notes(notes);
  return Watch(start(words, notes, signals.before()), notes).until_the_end(signals);
}

}  // namespace ticopd::app
