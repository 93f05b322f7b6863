#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace ticopd {

// The input of the run in progress, in two parts: a signal handler can make no string of them.
struct InputInProgress {
  const void* head = nullptr;
  std::size_t head_bytes = 0;
  const void* rest = nullptr;
  std::size_t rest_bytes = 0;
};
inline InputInProgress in_progress;
inline const char* finding_file = "hammer-found";

// Writes the input to the finding's file and says so.
inline void save_input() {
  const int fd = ::open(finding_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  bool saved = fd >= 0;
  saved = saved && ::write(fd, in_progress.head, in_progress.head_bytes) >= 0;
  saved = saved && ::write(fd, in_progress.rest, in_progress.rest_bytes) >= 0;
  for (const char* part : {saved ? "hammer: a finding, its input is in " : "hammer: a finding",
                           saved ? finding_file : "", "\n"})
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) ::_exit(70);
}

extern "C" inline void on_finding(int signal) {
  save_input();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// A sanitizer ends the program without a signal. The function is there only with one.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

// On a stack of its own: recursion without an end leaves none.
inline void save_findings() {
  static std::array<std::byte, 1 << 16> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_finding;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPROF})
    ::sigaction(signal, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_input);
}

// A run that hangs is a finding when this much CPU time is used up; 0 ends the watch. A clock on
// the wall would run on while the process is stopped.
inline void watch_for_a_hang(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace ticopd
