#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ticopd {

// A file from its first byte to its last without ever holding all of it, unzipped where the content
// (not the name) says gzip. Throws what read_file throws (file.hpp).
class FileStream {
 public:
  explicit FileStream(const std::filesystem::path& file, bool unzip = true);
  ~FileStream();
  FileStream(FileStream&&) noexcept;

  // Appends the next `count` bytes to `out`, fewer only where the file ends; returns how many.
  // `out` grows with what is really there, so `count` may be any claim of a header.
  std::size_t read(std::string& out, std::size_t count);
  // Reads on to the end and drops it; returns how many bytes that were.
  std::size_t drain();
  // How many bytes are still to come, where the file tells: no archive does, and no pipe.
  std::optional<std::size_t> left() const;

 private:
  class Bytes;
  std::unique_ptr<Bytes> bytes_;
};

// The same, a line at a time.
class LineStream {
 public:
  explicit LineStream(const std::filesystem::path& file) : file_(file) {}

  // The next line without its end, valid until the next call; false after the last. The mark that
  // some programs put before UTF-8 text is no part of the first.
  bool next(std::string_view& line);

 private:
  bool cut(std::string_view& line);

  FileStream file_;
  bool first_ = true;
  std::string held_;
  std::size_t at_ = 0;
};

}  // namespace ticopd
