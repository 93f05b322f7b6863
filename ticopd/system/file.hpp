#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace ticopd {

// The bytes as they are on disk. FormatError naming the file if it is missing, a folder, or not
// readable for us; DiskError if the disk fails while reading.
std::string read_bytes(const std::filesystem::path& file);

// The same, unzipped if the content (not the name) is gzip. FormatError for a damaged archive.
std::string read_file(const std::filesystem::path& file);

// Afterwards `file` has either the whole new content or its old content: write to a temporary name
// in the same folder, fsync, rename, fsync of the folder. On any failure the temporary file is
// removed; DiskError names the path and the system's reason.
void write_atomically(const std::filesystem::path& file, std::string_view bytes);

// The same, with `write` filling the temporary file. Exceptions of `write` are passed on.
void write_atomically(const std::filesystem::path& file,
                      const std::function<void(const std::filesystem::path&)>& write);

// Removes the temporary files above that killed writers left in this folder.
void remove_unfinished(const std::filesystem::path& folder);

// A new folder inside `parent`, removed with its content at the end of its scope. DiskError if it
// cannot be made.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ticopd
