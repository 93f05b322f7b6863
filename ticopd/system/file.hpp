#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "ticopd/system/descriptor.hpp"

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

// The same for a file that only its owner may read.
void write_secret(const std::filesystem::path& file, std::string_view bytes);

// A new, empty file, open for writing: the one way in which files are created. It never writes
// through a link or into a file that is there: a leftover of that name is removed first. DiskError.
Descriptor create_file(const std::filesystem::path& file);

// Gives a file that another program wrote its final name: fsync, rename, fsync of the folder.
void publish(const std::filesystem::path& temporary, const std::filesystem::path& file);

// Afterwards the names of files in this folder are on the disk. DiskError.
void sync_folder(const std::filesystem::path& folder);

// Removes the temporary files and scratch folders that killed writers left in this folder.
void remove_unfinished(const std::filesystem::path& folder);

// True if the folder holds nothing but those, and folders that hold nothing else: whoever made it
// was killed before its first file had its name.
bool holds_only_unfinished(const std::filesystem::path& folder);

// A new folder inside `parent`, removed with its content at the end of its scope. DiskError if it
// cannot be made.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  // In $TMPDIR, /tmp, /var/tmp or /dev/shm, whichever is usable: for what is no result.
  static ScratchFolder anywhere();
  ~ScratchFolder();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace ticopd
