#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>
#include <type_traits>

namespace ticopd {

// The process and machine of a rank; all ranks exchange them at the start. On one machine the
// kernel knows at once that a process has ended, long before any deadline and before MPI notices.
// The rank that sees it tells the others.
struct Peer {
  std::array<char, 64> host{};
  std::array<char, 40> machine{};  // of the running kernel: equal on one machine only
  std::uint64_t pids = 0;          // the namespace in which `pid` means something
  std::int64_t pid = 0;
  cpu_set_t cpus{};

  static Peer here() {
    Peer me;
    gethostname(me.host.data(), me.host.size() - 1);
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    id.copy(me.machine.data(), me.machine.size() - 1);
    struct stat space {};
    if (stat("/proc/self/ns/pid", &space) == 0) me.pids = space.st_ino;
    me.pid = getpid();
    CPU_ZERO(&me.cpus);
    sched_getaffinity(0, sizeof me.cpus, &me.cpus);
    return me;
  }

  bool same_machine(const Peer& other) const { return machine[0] != 0 && machine == other.machine; }
  bool shares_cpus(const Peer& other) const {
    cpu_set_t both;
    CPU_AND(&both, &cpus, &other.cpus);
    return same_machine(other) && CPU_COUNT(&both) > 0;
  }
  // As far as `me` can see.
  bool is_gone(const Peer& me) const {
    if (!same_machine(me) || pids == 0 || pids != me.pids) return false;
    return kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
  }
  std::string name() const { return host.data(); }
};
static_assert(std::is_trivially_copyable_v<Peer>);

}  // namespace ticopd
