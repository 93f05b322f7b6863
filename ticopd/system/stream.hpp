#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ticopd {

// Reads a file from its first byte to its last without ever holding all of it, and unzips it if the
// content (not the name) is gzip. Throws what read_file throws (file.hpp).
class FileStream {
 public:
  explicit FileStream(const std::filesystem::path& file, bool unzip = true);
  ~FileStream();
  FileStream(FileStream&&) noexcept;

  // Appends the next `count` bytes to `out`, fewer only at the end of the file; returns how many.
  // `out` grows only with bytes that really exist, so `count` may be any claim of a header.
  std::size_t read(std::string& out, std::size_t count);
  // Skips the rest of the file; returns its number of bytes.
  std::size_t drain();
  // The number of bytes left, if the file tells: archives and pipes do not.
  std::optional<std::size_t> left() const;

 private:
  class Bytes;
  std::unique_ptr<Bytes> bytes_;
};

// The same, a line at a time.
class LineStream {
 public:
  explicit LineStream(const std::filesystem::path& file) : file_(file) {}

  // The next line without its end, valid until the next call; false after the last. A byte-order
  // mark before UTF-8 text is not part of the first line.
  bool next(std::string_view& line);

 private:
  bool cut(std::string_view& line);

  FileStream file_;
  bool first_ = true;
  std::string held_;
  std::size_t at_ = 0;
};

}  // namespace ticopd
