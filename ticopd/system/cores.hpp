#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ticopd {

// The processors this process may run on (its affinity mask), ascending.
std::vector<int> allowed_cpus();

// How many threads can really run at once: the allowed processors, or fewer where a control group
// (a container, a batch system) grants less time than that.
int usable_cores();

// Processors' worth of time that control groups grant, of version 2 (cpu.max) and 1
// (cpu.cfs_quota_us), the group itself and every group above it; infinity where nothing limits.
// `groups` is the text of /proc/self/cgroup, `root` is /sys/fs/cgroup.
double cgroup_cpus(const std::string& groups, const std::filesystem::path& root);

}  // namespace ticopd
