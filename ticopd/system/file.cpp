#include "ticopd/system/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "ticopd/system/stream.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }  // some disks report "full" only here

 private:
  int fd_;
};

[[noreturn]] void disk_trouble(const fs::path& file, std::string_view doing) {
  const int error = errno;
  throw DiskError(fmt::format("{}: cannot {}: {}", file.string(), doing, std::strerror(error)));
}

void write_all(int fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) disk_trouble(file, "write");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder and say EINVAL; the rename itself is still atomic there.
  if (fd.get() < 0 || (::fsync(fd.get()) != 0 && errno != EINVAL)) disk_trouble(folder, "sync");
}

// .NAME.PID.COUNT.tmp, as write_atomically makes it; other names are not ours to remove.
fs::path temporary_name(const fs::path& file, unsigned count) {
  return fmt::format(".{}.{}.{}.tmp", file.filename().string(), ::getpid(), count);
}

bool is_temporary(const fs::path& name) {
  const std::string pid_and_count =
      name.stem().extension().string() + name.stem().stem().extension().string();
  return name.extension() == ".tmp" && name.string().starts_with('.') &&
         std::ranges::count(pid_and_count, '.') == 2 &&
         pid_and_count.find_first_not_of(".0123456789") == std::string::npos;
}

std::string drained(FileStream stream) {
  std::string bytes;
  bytes.reserve(stream.left().value_or(0));
  stream.read(bytes, std::numeric_limits<std::size_t>::max());
  return bytes;
}

}  // namespace

std::string read_bytes(const fs::path& file) {
  return drained(FileStream(file, false));
}

std::string read_file(const fs::path& file) {
  return drained(FileStream(file));
}

void write_atomically(const fs::path& file, const std::function<void(const fs::path&)>& write) {
  static std::atomic<unsigned> count{0};
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::path temporary = folder / temporary_name(file, count++);
  try {
    write(temporary);
    Descriptor fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0 || fd.close() != 0) disk_trouble(file, "write");
    if (::rename(temporary.c_str(), file.c_str()) != 0) disk_trouble(file, "rename to");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder);
}

void write_atomically(const fs::path& file, std::string_view bytes) {
  write_atomically(file, [&](const fs::path& temporary) {
    Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.get() < 0) disk_trouble(file, "write");
    write_all(fd.get(), bytes, file);
    if (fd.close() != 0) disk_trouble(file, "write");
  });
}

void remove_unfinished(const fs::path& folder) {
  std::error_code error;  // a leftover that stays harms nobody
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_temporary(entry.path().filename())) fs::remove(entry.path(), error);
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string name = (parent / "ticopd.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw DiskError(
        fmt::format("{}: cannot make a folder: {}", parent.string(), std::strerror(errno)));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ticopd
