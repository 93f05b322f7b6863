#include "ticopd/run/shared_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {

namespace fs = std::filesystem;

File::File(const fs::path& path, int flags)
    : path_(path), fd_(::open(path.c_str(), flags | O_CLOEXEC)) {
  if (fd_.get() < 0) fail("cannot be opened");
}

File::File(const fs::path& path, NewFile) : path_(path), fd_(create_file(path)) {}

void File::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("cannot be written");
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void File::read_at(std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pread(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be read");
    if (n == 0) throw FormatError(path_.string() + ": ends too early");
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

std::uint64_t File::size() {
  struct stat s {};
  if (::fstat(fd_.get(), &s) != 0) fail("cannot be read");
  return static_cast<std::uint64_t>(s.st_size);
}

void File::flush() {
  if (::fsync(fd_.get()) != 0) fail("cannot be written to the disk");
}

void File::fail(const char* what) const {
  throw DiskError(path_.string() + ": " + what + ": " + std::strerror(errno));
}

namespace {

// The barriers order the steps: the file exists before other ranks open it, all bytes are on the
// disk before it gets its name, and it has its name before any rank returns.
void write_pieces(Transport& transport, const fs::path& temporary, const fs::path& path,
                  std::span<const std::byte> head, std::span<const FilePiece> mine) {
  const bool leader = transport.rank() == 0;
  if (leader) File(temporary, File::NewFile{}).write_at(0, head);
  barrier(transport, channel_checkpoint);
  {
    std::error_code error;
    if (!leader && !fs::exists(temporary, error))
      throw DiskError(temporary.string() + ": rank 0 made it, but rank " +
                      std::to_string(transport.rank()) +
                      " does not see it: all ranks need one folder, on a shared file system");
    File file(temporary, O_WRONLY | O_NOFOLLOW);
    for (const FilePiece& s : mine) file.write_at(s.offset, s.bytes);
    file.flush();
  }
  barrier(transport, channel_checkpoint);
  if (leader) {
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) throw DiskError(path.string() + ": cannot be renamed: " + error.message());
    // Flush the folder as well: otherwise a crash could undo the rename.
    File(path.parent_path().empty() ? fs::path(".") : path.parent_path(), O_RDONLY).flush();
  }
  barrier(transport, channel_checkpoint);
}

}  // namespace

void write_together(Transport& transport, const fs::path& path, std::uint32_t round,
                    std::span<const std::byte> head, std::span<const FilePiece> mine) {
  const fs::path temporary = path.string() + "." + std::to_string(round) + ".tmp";
  try {
    write_pieces(transport, temporary, path, head, mine);
  } catch (...) {
    if (transport.rank() == 0)
      ::unlink(temporary.c_str());  // frees the space: the disk may be full
    throw;
  }
}

}  // namespace ticopd
