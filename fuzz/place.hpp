#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "ticopd/system/file.hpp"

namespace ticopd {

// A folder in memory for the files that a fuzz target reads. Files stay open between inputs: to
// make one anew would take longer than to read it.
class Place {
 public:
  const std::filesystem::path& folder() const { return scratch_.path(); }

  // Gives a file this content and returns its path.
  std::filesystem::path put(const std::string& name, std::string_view content) {
    const std::filesystem::path file = folder() / name;
    const auto [at, fresh] = open_.emplace(name, -1);
    if (fresh) {
      std::filesystem::create_directories(file.parent_path());
      at->second = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    }
    const int fd = at->second;
    const auto size = static_cast<off_t>(content.size());
    if (fd < 0 || ::ftruncate(fd, size) != 0 ||
        ::pwrite(fd, content.data(), content.size(), 0) != size)
      std::abort();
    return file;
  }

  // To be called after somebody else replaced the file.
  void forget(const std::string& name) {
    const auto at = open_.find(name);
    if (at == open_.end()) return;
    ::close(at->second);
    open_.erase(at);
  }

 private:
  static ScratchFolder in_memory() {
    const std::filesystem::path memory = "/dev/shm";
    return std::filesystem::is_directory(memory) ? ScratchFolder(memory)
                                                 : ScratchFolder::anywhere();
  }

  ScratchFolder scratch_ = in_memory();
  std::map<std::string, int> open_;
};

inline Place& place() {
  static Place one;
  return one;
}

}  // namespace ticopd
