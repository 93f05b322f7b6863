#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace ticopd {

// The bytes as they are on disk. FormatError naming the file where it is missing, a folder, or not
// ours to read; DiskError where the disk fails while reading.
std::string read_bytes(const std::filesystem::path& file);

// The same, unzipped where the content (not the name) says gzip. FormatError for a damaged archive.
std::string read_file(const std::filesystem::path& file);

// Either the whole new content stands under `file` afterwards, or what was there before: written to
// a temporary name in the same folder, fsync, rename, fsync of the folder. On any failure the
// temporary file is removed; DiskError names the path and the system's reason.
void write_atomically(const std::filesystem::path& file, std::string_view bytes);

// The same where `write` fills the temporary file it is given. What `write` throws is passed on.
void write_atomically(const std::filesystem::path& file,
                      const std::function<void(const std::filesystem::path&)>& write);

// What writers that were killed in the middle left in this folder, under the temporary names above.
void remove_unfinished(const std::filesystem::path& folder);

// A folder of its own inside `parent`, gone with all it holds at the end. DiskError where none can
// be made.
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
