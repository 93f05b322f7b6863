#include "ticopd/experiment/claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/experiment/run_set.hpp"

namespace ticopd {

namespace fs = std::filesystem;

bool is_empty_folder(const fs::path& folder) {
  std::error_code error;
  const bool empty = fs::is_empty(folder, error);
  if (error)
    throw UsageError(
        fmt::format("--out {}: cannot be looked into: {}", folder.string(), error.message()));
  return empty;
}

FolderClaim::FolderClaim(fs::path path) : path_(std::move(path)) {
  make(path_);
}

FolderClaim FolderClaim::unused(const fs::path& base) {
  FolderClaim claim;
  claim.path_ = base;
  // mkdir fails if the name exists, so two programs can never get the same folder.
  for (int i = 2; !claim.make(claim.path_); ++i)
    claim.path_ = fmt::format("{}-{}", base.string(), i);
  return claim;
}

FolderClaim::FolderClaim(FolderClaim&& other) noexcept
    : path_(std::move(other.path_)),
      made_(std::exchange(other.made_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

FolderClaim::~FolderClaim() {
  for (; !made_.empty(); made_.pop_back()) ::rmdir(made_.back().c_str());  // fails if not empty
  if (fd_ >= 0) ::close(fd_);
}

bool FolderClaim::make(const fs::path& folder) {
  for (int attempt = 0;; ++attempt) {
    if (::mkdir(folder.c_str(), 0777) == 0) {
      made_.push_back(folder);
      return true;
    }
    const int why = errno;
    std::error_code error;
    if (fs::is_directory(folder, error)) return false;
    // Try again: another run that failed may have removed the parent in between.
    if (why != ENOENT || !folder.has_parent_path() || attempt == 100)
      throw DiskError(
          fmt::format("{}: cannot be created: {}", folder.string(), std::strerror(why)));
    make(folder.parent_path());
  }
}

namespace {

// 0, or errno. A reader may look at the folder just now (FolderGlance): it is gone in a moment.
int lock_soon(int fd) {
  constexpr auto moment = std::chrono::milliseconds(10);
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    if (errno != EWOULDBLOCK) return errno;
    std::this_thread::sleep_for(moment);
  }
  return EWOULDBLOCK;
}

}  // namespace

void FolderClaim::hold() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (const int error = fd_ >= 0 ? lock_soon(fd_) : 0; error != 0) {
      if (error != EWOULDBLOCK) return;  // the file system has no such locks
      made_.clear();                     // the other process uses it now
      throw UsageError(fmt::format(
          "--out {}: another ticopd is using it; wait until it ends, or give another folder",
          path_.string()));
    }
    if (still_there()) return;
    // The process that had the folder failed and removed it. Make it again.
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    make(path_);
  }
}

FolderGlance::FolderGlance(const fs::path& folder)
    : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (fd_ >= 0) in_use_ = ::flock(fd_, LOCK_SH | LOCK_NB) != 0;
}

FolderGlance::~FolderGlance() {
  if (fd_ >= 0) ::close(fd_);
}

bool FolderClaim::still_there() const {
  struct stat mine {
  }, named{};
  if (::stat(path_.c_str(), &named) != 0) return errno != ENOENT;
  return fd_ < 0 || ::fstat(fd_, &mine) != 0 ||
         (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev);
}

namespace {

// A run may have any name. A folder name must not hold a path or control characters, must not be
// hidden, and must not be too long.
std::string folder_name_for(const std::string& name) {
  const auto odd = [](unsigned char c) { return c < ' ' || c == '/' || c == 127; };
  const bool fits =
      !name.empty() && name.size() <= 100 && name.front() != '.' && std::ranges::none_of(name, odd);
  return fits ? name : file_name_for(name);
}

}  // namespace

FolderClaim default_folder(const std::string& name) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &parts);
  return FolderClaim::unused(fs::path("runs") / fmt::format("{}-{}", folder_name_for(name), time));
}

FolderClaim folder_for(const fs::path& out, const std::string& name) {
  if (out.empty()) return default_folder(name);
  std::error_code error;
  if (fs::exists(out, error) && !fs::is_directory(out, error))
    throw UsageError(
        fmt::format("--out {}: is a file; expected a folder that is new or empty", out.string()));
  return FolderClaim(out);
}

void require_folder_to_resume(bool resume, const fs::path& out, std::string_view what) {
  if (resume && out.empty())
    throw UsageError(fmt::format("--resume needs --out DIR, the folder of the {} to resume", what));
}

}  // namespace ticopd
