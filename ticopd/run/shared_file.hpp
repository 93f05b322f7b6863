#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "ticopd/transport/transport.hpp"

namespace ticopd {

// A file descriptor that says which file and why when the disk refuses.
class File {
 public:
  File(const std::filesystem::path& path, int flags);  // of open(2); DiskError
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> bytes);  // FormatError: ends too early
  std::uint64_t size();
  void flush();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::filesystem::path path_;
  int fd_;
};

struct FilePiece {
  std::uint64_t offset;
  std::span<const std::byte> bytes;
};

// A file that all ranks write together: the head by rank 0 (others pass what they like), and each
// rank its own pieces. It gets its name only when all of it is on the disk, so what stood there
// before is never replaced by less. Every rank must see the folder. The name it has before holds
// the round: on a network's file system a rank may for a while still see an older file by a name
// that was used before.
void write_together(Transport& transport, const std::filesystem::path& file, std::uint32_t round,
                    std::span<const std::byte> head, std::span<const FilePiece> mine);

}  // namespace ticopd
