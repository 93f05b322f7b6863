#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "ticopd/system/descriptor.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// A file descriptor whose errors name the file and the reason.
class File {
 public:
  struct NewFile {};

  File(const std::filesystem::path& path, int flags);  // flags of open(2) but O_CREAT; DiskError
  File(const std::filesystem::path& path, NewFile);    // created as create_file() does

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> bytes);  // FormatError if it is too short
  std::uint64_t size();
  void flush();

 private:
  [[noreturn]] void fail(const char* what) const;
  std::filesystem::path path_;
  Descriptor fd_;
};

// Bytes that a rank writes, and their offset in the file.
struct FilePiece {
  std::uint64_t offset;
  std::span<const std::byte> bytes;
};

// Collective: all ranks write one file together. Rank 0 writes the head (the other ranks' heads are
// ignored), and each rank writes its own pieces. The file gets its name only when all of it is on
// the disk, so an incomplete file never replaces an older one. Every rank must see the folder. The
// temporary name contains the round: on a network file system a rank may for a while still see an
// old file under a name that was used before.
void write_together(Transport& transport, const std::filesystem::path& file, std::uint32_t round,
                    std::span<const std::byte> head, std::span<const FilePiece> mine);

}  // namespace ticopd
