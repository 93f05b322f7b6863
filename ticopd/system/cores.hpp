#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ticopd {

// The processors this process may run on (its affinity mask), ascending.
std::vector<int> allowed_cpus();

// The number of threads that can really run at once: the allowed processors, or fewer if a control
// group (a container, a batch system) grants less time.
int usable_cores();

// Processors' worth of time that control groups grant, of version 2 (cpu.max) and 1
// (cpu.cfs_quota_us), the group itself and every group above it; infinity without a limit. `groups`
// is the text of /proc/self/cgroup, `root` is /sys/fs/cgroup.
double cgroup_cpus(const std::string& groups, const std::filesystem::path& root);

}  // namespace ticopd
