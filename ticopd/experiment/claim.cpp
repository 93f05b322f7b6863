#include "ticopd/experiment/claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ticopd/error.hpp"

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

void FolderClaim::hold() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    fd_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ >= 0 && ::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;  // the file system has no such locks
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

bool FolderClaim::still_there() const {
  struct stat mine {
  }, named{};
  if (::stat(path_.c_str(), &named) != 0) return errno != ENOENT;
  return fd_ < 0 || ::fstat(fd_, &mine) != 0 ||
         (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev);
}

}  // namespace ticopd
