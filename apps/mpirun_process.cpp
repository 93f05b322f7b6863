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
#include <fstream>
#include <optional>

#include "apps/mpirun_output.hpp"
#include "apps/progress.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Collects the signals that ask us to stop. They are blocked, and only sigtimedwait takes them, so
// no signal handler ever interrupts this code.
class AskedToStop {
 public:
  AskedToStop() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGXCPU, SIGCHLD})
      sigaddset(&signals_, signal);
    struct sigaction hangup {};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)  // nohup
      sigaddset(&signals_, SIGHUP);
    ::sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~AskedToStop() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  AskedToStop(const AskedToStop&) = delete;
  AskedToStop& operator=(const AskedToStop&) = delete;

  // Waits up to 0.2 s for a signal or the end of a child. True if a signal asks us to stop.
  bool within_a_moment() const {
    const timespec moment{0, 200'000'000};
    const int signal = ::sigtimedwait(&signals_, nullptr, &moment);
    return signal > 0 && signal != SIGCHLD;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t signals_{}, before_{};
};

// Starts mpirun in its own process group: the terminal's Ctrl-C reaches only us, and we decide what
// mpirun gets. mpirun receives SIGTERM when this process ends, even if this process is killed.
pid_t start(const std::vector<std::string>& words, const fs::path& notes, const sigset_t& mask,
            int errors) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t us = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw UnavailableError(fmt::format("launch: {}", std::strerror(errno)));
  if (child > 0) {
    ::setpgid(child, child);  // parent and child both call it: either may run first
    return child;
  }
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // If the parent died before prctl, the signal will never come.
  if (::getppid() != us) ::_exit(127);
  ::setenv(notes_variable, notes.c_str(), 1);
  if (live()) ::setenv(terminal_variable, std::to_string(terminal_width()).c_str(), 1);
  // exec keeps ignored signals ignored, so give mpirun the defaults.
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGXFSZ, SIGXCPU})
    std::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  // The system stops a background process that reads from the terminal.
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  tell("{}: {}\n", words[0], std::strerror(errno));
  ::_exit(127);
}

// A zombie has ended: its parent has not asked how.
bool runs(const std::string& pid) {
  std::ifstream in("/proc/" + pid + "/stat");
  std::string line;
  std::getline(in, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line.compare(name_end + 2, 1, "Z") != 0;
}

// True also if it cannot be known.
bool has_running_children(pid_t parent) {
  std::error_code error;
  const fs::path threads = "/proc/" + std::to_string(parent) + "/task";
  for (const auto& thread : fs::directory_iterator(threads, error)) {
    std::ifstream in(thread.path() / "children");
    if (!in) return true;  // this kernel does not say, or the thread has just ended
    for (std::string child; in >> child;)
      if (runs(child)) return true;
  }
  return false;
}

// Watches mpirun until it ends and passes signals on. The first signal becomes SIGUSR1, which both
// MPIs forward to every rank: the ranks finish the round, save and end. The second signal ends them
// within two seconds, the third at once.
class Watch {
 public:
  Watch(pid_t mpirun, fs::path notes, bool elsewhere)
      : mpirun_(mpirun), notes_(std::move(notes)), elsewhere_(elsewhere) {}

  Observed until_the_end(const AskedToStop& signals) {
    Observed seen;
    while (::waitpid(mpirun_, &seen.status, WNOHANG) != mpirun_) {
      if (signals.within_a_moment()) pass_on();
      end_what_hangs();
      end_what_outlives_its_ranks();
    }
    seen.hung = hung_;
    seen.elsewhere = elsewhere_;
    seen.notes = read_notes(notes_);
    seen.asked = asked_ > 0;
    return seen;
  }

 private:
  void pass_on() {
    ++asked_;
    if (asked_ == 1) {
      tell("ticopd: stopping after this round; a second signal ends the run at once\n");
      ::kill(mpirun_, SIGUSR1);
    } else if (asked_ == 2) {
      ::kill(mpirun_, SIGTERM);
    } else {
      ::kill(-mpirun_, SIGKILL);
    }
  }

  // If a machine goes silent, Open MPI waits for it for ever, even after all reachable ranks have
  // ended, and ignores SIGTERM. Normally Open MPI ends the other ranks within two seconds after one
  // has failed; if it takes longer, it hangs.
  void end_what_hangs() {
    if (!failed_at_) {
      if (read_notes(notes_).failed) failed_at_ = Clock::now();
    } else if (Clock::now() - *failed_at_ > std::chrono::seconds(3)) {
      hung_ = true;
      ::kill(-mpirun_, SIGKILL);
    }
  }

  // A rank killed during MPI_Init may hold a lock in memory that it shares with Open MPI's mpirun,
  // which then waits for that lock for ever, after all ranks have ended: perhaps before we had seen
  // one. Ranks on other machines are no children of ours to look at.
  void end_what_outlives_its_ranks() {
    if (elsewhere_) return;
    const auto now = Clock::now();
    if (has_running_children(mpirun_)) {
      had_children_at_ = now;
    } else if (now - had_children_at_ > std::chrono::seconds(10)) {
      hung_ = true;
      ::kill(-mpirun_, SIGKILL);
    }
  }

  pid_t mpirun_;
  fs::path notes_;
  bool elsewhere_;  // some ranks may run on other machines
  bool hung_ = false;
  int asked_ = 0;
  // In half a minute mpirun has started its ranks even on a busy machine.
  Clock::time_point had_children_at_ = Clock::now() + std::chrono::seconds(20);
  std::optional<Clock::time_point> failed_at_;
};

}  // namespace

Observed run_mpirun(const std::vector<std::string>& words, const fs::path& notes, bool elsewhere,
                    const std::atomic<bool>& stop) {
  const AskedToStop signals;
  if (stop) throw Interrupted("launch: interrupted before mpirun started");
  begin_notes(notes);
  FilteredErrors errors;
  Watch watch(start(words, notes, signals.before(), errors.write_end()), notes, elsewhere);
  errors.begin();
  Observed seen = watch.until_the_end(signals);
  seen.message = errors.finish();
  return seen;
}

}  // namespace ticopd::app
