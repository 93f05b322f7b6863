#include "ticopd/system/memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace ticopd {
namespace {

namespace fs = std::filesystem;
constexpr double no_limit = std::numeric_limits<double>::infinity();

// The number in a line such as "VmRSS:     12345 kB".
std::optional<std::size_t> number_in(const fs::path& file_name, const std::string& name) {
  std::ifstream file(file_name);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 10);
  return std::nullopt;
}

std::size_t status_bytes(const std::string& name) {
  return 1024 * number_in("/proc/self/status", name).value_or(0);
}

// What a control group leaves of its limit. `limit` and `used` are names of files in its folder.
double left_of(const fs::path& group, const char* limit, const char* used, const char* cached) {
  std::ifstream limit_file(group / limit), used_file(group / used);
  double most = 0, now = 0;
  if (!(limit_file >> most) || !(used_file >> now)) return no_limit;  // "max" is no number
  const auto cache = static_cast<double>(number_in(group / "memory.stat", cached).value_or(0));
  return std::max(0.0, most - now + std::min(cache, now));
}

// Of the groups of this process, and all above them.
double left_of_groups() {
  std::ifstream groups("/proc/self/cgroup");
  double left = no_limit;
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/path" or "0::/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const bool v1 = line.substr(first, second - first) == ":memory";
    if (!v1 && second != first + 1) continue;
    fs::path folder = v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
    const auto look = [&] {
      left = std::min(left, v1 ? left_of(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                         "total_inactive_file ")
                               : left_of(folder, "memory.max", "memory.current", "inactive_file "));
    };
    look();
    for (const fs::path& part : fs::path(line.substr(second + 1)).relative_path()) {
      folder /= part;
      look();
    }
  }
  return left;
}

std::atomic<std::size_t> most_seen{0};

std::size_t largest_so_far(std::size_t bytes) {
  std::size_t most = most_seen.load();
  while (most < bytes && !most_seen.compare_exchange_weak(most, bytes)) {
  }
  return std::max(most, bytes);
}

}  // namespace

std::size_t resident_bytes() {
  const std::size_t bytes = status_bytes("VmRSS:");
  largest_so_far(bytes);
  return bytes;
}

double available_bytes() {
  const std::optional<std::size_t> free = number_in("/proc/meminfo", "MemAvailable:");
  return std::min(free ? 1024.0 * static_cast<double>(*free) : no_limit, left_of_groups());
}

void give_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

// Linux counts in batches on each processor, and its peak lags behind: with 16 of them it was found
// 2 MB below what had been in memory.
std::size_t peak_resident_bytes() {
  return largest_so_far(std::max(status_bytes("VmHWM:"), status_bytes("VmRSS:")));
}

}  // namespace ticopd
