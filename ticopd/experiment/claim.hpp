#pragma once

#include <filesystem>
#include <vector>

namespace ticopd {

// A folder for results, from before the data are read: two programs that found the same name free
// would else write over each other. What was made for it and is still empty at the end goes again.
class FolderClaim {
 public:
  explicit FolderClaim(std::filesystem::path path);  // makes what is missing; DiskError
  // base, or base-2, base-3, ...: the first that nobody else has.
  static FolderClaim unused(const std::filesystem::path& base);

  FolderClaim(FolderClaim&& other) noexcept;
  FolderClaim& operator=(FolderClaim&&) = delete;
  ~FolderClaim();

  // Until the end of this object or process, however it ends; UsageError while another holds it.
  // The lock is on the folder itself and leaves no file in it.
  void hold();

  const std::filesystem::path& path() const { return path_; }

 private:
  FolderClaim() = default;
  bool make(const std::filesystem::path& folder);  // false: it was there
  bool still_there() const;

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // parents first
  int fd_ = -1;
};

}  // namespace ticopd
