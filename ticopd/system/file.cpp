#include "ticopd/system/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/stream.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr int most_waits = 200;  // for a file that may be opened, of 10 ms each

[[noreturn]] void disk_trouble(const fs::path& file, std::string_view doing) {
  const int error = errno;
  throw DiskError(fmt::format("{}: cannot {}: {}", file.string(), doing, std::strerror(error)));
}

void write_all(int fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) disk_trouble(file, "be written");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// Strangers that connect to this program may hold all files that it may open, until their
// connections are ended a moment later.
Descriptor open_soon(const fs::path& file, int flags, mode_t mode = 0) {
  for (int waits = 0;; ++waits) {
    Descriptor fd(::open(file.c_str(), flags | O_CLOEXEC, mode));
    if (fd.get() >= 0 || (errno != EMFILE && errno != ENFILE) || waits == most_waits) return fd;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
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

constexpr std::string_view scratch_head = ".ticopd.";

// .ticopd.PID.XXXXXX, as ScratchFolder makes it, of a process that has ended.
bool is_scratch(const fs::path& name) {
  std::string_view rest = name.native();
  if (!rest.starts_with(scratch_head)) return false;
  rest.remove_prefix(scratch_head.size());
  const auto pid = parse_number<pid_t>(rest.substr(0, rest.find('.')));
  return pid && *pid > 0 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

std::string drained(FileStream stream) {
  std::string bytes;
  bytes.reserve(stream.left().value_or(0));
  stream.read(bytes, std::numeric_limits<std::size_t>::max());
  return bytes;
}

}  // namespace

void sync_folder(const fs::path& folder) {
  const Descriptor fd = open_soon(folder, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a folder and say EINVAL; the rename itself is still atomic there.
  if (fd.get() < 0 || (::fsync(fd.get()) != 0 && errno != EINVAL))
    disk_trouble(folder, "be synced");
}

std::string read_bytes(const fs::path& file) {
  return drained(FileStream(file, false));
}

std::string read_file(const fs::path& file) {
  return drained(FileStream(file));
}

namespace {

// A rename would replace a device or a pipe by a plain file.
void refuse_odd_file(const fs::path& file) {
  std::error_code missing;
  const fs::file_type type = fs::symlink_status(file, missing).type();
  if (type != fs::file_type::not_found && type != fs::file_type::regular &&
      type != fs::file_type::symlink)
    throw DiskError(fmt::format("{}: cannot be written: it is {}, not a file", file.string(),
                                type == fs::file_type::directory ? "a directory" : "a device"));
}

}  // namespace

namespace {

// `named` is the path in messages.
Descriptor create(const fs::path& file, const fs::path& named, mode_t mode = 0666) {
  // A file of this name is a leftover of ours, or was put there to be written through. Either way
  // the name is taken from it; what a link points to stays untouched.
  constexpr int attempts = 10;
  for (int attempt = 0;; ++attempt) {
    Descriptor fd = open_soon(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (fd.get() >= 0) return fd;
    if (errno != EEXIST || attempt == attempts) disk_trouble(named, "be created");
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) disk_trouble(named, "be replaced");
  }
}

}  // namespace

Descriptor create_file(const fs::path& file) {
  return create(file, file);
}

namespace {

void write_with_mode(const fs::path& file, std::string_view bytes, mode_t mode) {
  static std::atomic<unsigned> count{0};
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::path temporary = folder / temporary_name(file, count++);
  refuse_odd_file(file);
  try {
    Descriptor fd = create(temporary, file, mode);
    write_all(fd.get(), bytes, file);
    if (::fsync(fd.get()) != 0 || fd.close() != 0) disk_trouble(file, "be written");
    if (::rename(temporary.c_str(), file.c_str()) != 0) disk_trouble(file, "be renamed to");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder);
}

}  // namespace

void write_atomically(const fs::path& file, std::string_view bytes) {
  write_with_mode(file, bytes, 0666);
}

void write_secret(const fs::path& file, std::string_view bytes) {
  write_with_mode(file, bytes, 0600);
}

void publish(const fs::path& temporary, const fs::path& file) {
  refuse_odd_file(file);
  {
    const Descriptor fd = open_soon(temporary, O_RDONLY | O_NOFOLLOW);
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) disk_trouble(temporary, "be read");
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) disk_trouble(file, "be renamed to");
  sync_folder(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

void remove_unfinished(const fs::path& folder) {
  std::error_code error;  // a leftover that stays harms nobody
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    if (is_temporary(name)) fs::remove(entry.path(), error);
    if (is_scratch(name)) fs::remove_all(entry.path(), error);
  }
}

bool holds_only_unfinished(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    const fs::file_type type = entry.symlink_status(error).type();
    const bool unfinished = type == fs::file_type::directory
                                ? is_scratch(name) || holds_only_unfinished(entry.path())
                                : type == fs::file_type::regular && is_temporary(name);
    if (!unfinished) return false;
  }
  return !error;
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string name = (parent / fmt::format("{}{}.XXXXXX", scratch_head, ::getpid())).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw DiskError(
        fmt::format("{}: cannot make a folder: {}", parent.string(), std::strerror(errno)));
  path_ = name;
}

ScratchFolder ScratchFolder::anywhere() {
  std::vector<fs::path> places;
  if (const char* wish = std::getenv("TMPDIR"); wish != nullptr && fs::path(wish).is_absolute())
    places.emplace_back(wish);
  places.insert(places.end(), {"/tmp", "/var/tmp", "/dev/shm"});
  for (const fs::path& place : places) try {
      return ScratchFolder(place);
    } catch (const DiskError&) {
      if (&place == &places.back()) throw;
    }
  throw std::logic_error("ScratchFolder::anywhere: no place");
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ticopd
