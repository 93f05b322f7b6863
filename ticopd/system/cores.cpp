#include "ticopd/system/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace ticopd {
namespace {

namespace fs = std::filesystem;
constexpr double unlimited = std::numeric_limits<double>::infinity();

double ratio(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : unlimited;
}

// "max 100000" or "150000 100000"
double limit_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period ? ratio(quota, period) : unlimited;
}

double limit_v1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us"), period_file(folder / "cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period ? ratio(quota, period) : unlimited;
}

// The limit of the group and of all groups above it. In a container the group's path may be the
// host's and not visible here; then the root is the container's own group.
double limit_along(const fs::path& root, const std::string& group,
                   double (*limit)(const fs::path&)) {
  double cpus = limit(root);
  fs::path folder = root;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    cpus = std::min(cpus, limit(folder));
  }
  return cpus;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

double cgroup_cpus(const std::string& groups, const fs::path& root) {
  double cpus = unlimited;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/path" or "0::/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      cpus = std::min(cpus, limit_along(root, group, limit_v2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      for (const char* mount : {"cpu", "cpu,cpuacct"})
        cpus = std::min(cpus, limit_along(root / mount, group, limit_v1));
    }
  }
  return cpus;
}

int usable_cores() {
  const std::size_t allowed = allowed_cpus().size();
  double cores = static_cast<double>(allowed > 0 ? allowed : std::thread::hardware_concurrency());
  std::ifstream file("/proc/self/cgroup");
  std::ostringstream groups;
  groups << file.rdbuf();
  cores = std::min(cores, std::ceil(cgroup_cpus(groups.str(), "/sys/fs/cgroup")));
  return std::max(1, static_cast<int>(cores));
}

}  // namespace ticopd
