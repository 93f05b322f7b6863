#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// True if a folder holds nothing. UsageError if it cannot be looked into.
bool is_empty_folder(const std::filesystem::path& folder);

// Reserves a folder for results before the data are read. Otherwise two programs that find the same
// name free would overwrite each other. The destructor removes the folders it made that are still
// empty.
class FolderClaim {
 public:
  explicit FolderClaim(std::filesystem::path path);  // creates missing folders; DiskError
  // Takes the first name that does not exist yet of base, base-2, base-3, ...
  static FolderClaim unused(const std::filesystem::path& base);

  FolderClaim(FolderClaim&& other) noexcept;
  FolderClaim& operator=(FolderClaim&&) = delete;
  ~FolderClaim();

  // Locks the folder until this object or the process ends, however it ends. UsageError if another
  // process holds the lock. The lock is on the folder itself and leaves no file in it.
  void hold();

  const std::filesystem::path& path() const { return path_; }

 private:
  FolderClaim() = default;
  bool make(const std::filesystem::path& folder);  // false: it existed
  // False if the folder was removed or replaced after it was opened.
  bool still_there() const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // parents first
  int fd_ = -1;
};

// Looks whether a folder is in use, and keeps programs from beginning in it until the end of the
// scope, so the scope must be short: hold() waits a moment for it.
class FolderGlance {
 public:
  explicit FolderGlance(const std::filesystem::path& folder);
  FolderGlance(const FolderGlance&) = delete;
  FolderGlance& operator=(const FolderGlance&) = delete;
  ~FolderGlance();

  bool in_use() const { return in_use_; }  // true also if the file system cannot tell

 private:
  int fd_ = -1;
  bool in_use_ = true;
};

// runs/NAME-TIME, with a number appended if that name is taken. The folder is created at once, so
// that no other process can take the name.
FolderClaim default_folder(const std::string& name);
// Claims `out`, or default_folder(name) if `out` is empty. UsageError if `out` is a file.
FolderClaim folder_for(const std::filesystem::path& out, const std::string& name);
// UsageError if something is to be resumed and nobody said where it is. `what` names it: "run".
void require_folder_to_resume(bool resume, const std::filesystem::path& out, std::string_view what);

}  // namespace ticopd
