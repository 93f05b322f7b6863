#include "ticopd/system/memory.hpp"

#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace ticopd {
namespace {

// A line such as "VmRSS:     12345 kB".
std::size_t status_bytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name))
      return 1024 * std::strtoull(line.c_str() + name.size(), nullptr, 10);
  return 0;
}

}  // namespace

std::size_t resident_bytes() {
  return status_bytes("VmRSS:");
}

void give_memory_back() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

std::size_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace ticopd
