// ThreadSanitizer of GCC 12 does not see a std::timed_mutex being locked (LLVM's issue 62623), so
// it takes everything behind MpiTransport's lock for a race. It does see pthread_mutex_timedlock.
#ifdef __SANITIZE_THREAD__
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t nanoseconds(const timespec& t) {
  return t.tv_sec * second + t.tv_nsec;
}

std::int64_t now(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return nanoseconds(t);
}

}  // namespace

extern "C" int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
  const std::int64_t left = std::max<std::int64_t>(0, nanoseconds(*until) - now(clock));
  const std::int64_t at = now(CLOCK_REALTIME) + left;
  const timespec end{.tv_sec = at / second, .tv_nsec = at % second};
  return ::pthread_mutex_timedlock(mutex, &end);
}
#endif
