#include "ticopd/data/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }  // some disks say "full" only here

 private:
  int fd_;
};

[[noreturn]] void disk_trouble(const fs::path& file, std::string_view doing) {
  const int error = errno;
  throw DiskError(fmt::format("{}: cannot {}: {}", file.string(), doing, std::strerror(error)));
}

void write_all(int fd, std::string_view bytes, const fs::path& file) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) disk_trouble(file, "write");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder and say EINVAL; the rename itself is still atomic there.
  if (fd.get() < 0 || (::fsync(fd.get()) != 0 && errno != EINVAL)) disk_trouble(folder, "sync");
}

// zlib's stream, freed on every way out.
struct Inflater : z_stream {
  Inflater() : z_stream{} {
    if (inflateInit2(this, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(this); }
};

std::string gunzip(const std::string& zipped, const fs::path& file) {
  Inflater stream;
  std::string out;
  std::string buffer(1 << 18, '\0');
  std::size_t fed = 0;
  for (int state = Z_OK;;) {
    if (stream.avail_in == 0) {
      const std::size_t piece = std::min<std::size_t>(zipped.size() - fed, 1u << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data() + fed));
      stream.avail_in = static_cast<uInt>(piece);
      fed += piece;
    }
    if (stream.avail_in == 0) {
      if (state == Z_STREAM_END) return out;
      throw FormatError(fmt::format("{}: the gzip archive is cut off after {} bytes", file.string(),
                                    zipped.size()));
    }
    // An archive may hold several members one after the other.
    if (state == Z_STREAM_END) inflateReset(&stream);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END)
      throw FormatError(fmt::format("{}: the gzip archive is damaged: {}", file.string(),
                                    stream.msg != nullptr ? stream.msg : "it does not inflate"));
    out.append(buffer, 0, buffer.size() - stream.avail_out);
  }
}

}  // namespace

std::string read_bytes(const fs::path& file) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0)
    throw FormatError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) disk_trouble(file, "stat");
  if (S_ISDIR(info.st_mode))
    throw FormatError(fmt::format("{}: is a folder, expected a file", file.string()));
  std::string bytes;
  bytes.resize(static_cast<std::size_t>(std::max<off_t>(info.st_size, 0)));
  std::size_t have = 0;
  for (;;) {
    if (have == bytes.size()) bytes.resize(bytes.size() + 4096);  // pipes do not know their size
    const ssize_t got = ::read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) disk_trouble(file, "read");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

std::string read_file(const fs::path& file) {
  std::string bytes = read_bytes(file);
  if (bytes.starts_with("\x1f\x8b")) return gunzip(bytes, file);
  return bytes;
}

void write_atomically(const fs::path& file, const std::function<void(const fs::path&)>& write) {
  static std::atomic<unsigned> count{0};
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const fs::path temporary =
      folder / fmt::format(".{}.{}.{}.tmp", file.filename().string(), ::getpid(), count++);
  try {
    write(temporary);
    Descriptor fd(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0 || fd.close() != 0) disk_trouble(file, "write");
    if (::rename(temporary.c_str(), file.c_str()) != 0) disk_trouble(file, "rename to");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder);
}

void write_atomically(const fs::path& file, std::string_view bytes) {
  write_atomically(file, [&](const fs::path& temporary) {
    Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.get() < 0) disk_trouble(file, "write");
    write_all(fd.get(), bytes, file);
    if (fd.close() != 0) disk_trouble(file, "write");
  });
}

ScratchFolder::ScratchFolder(const fs::path& parent) {
  std::string name = (parent / "ticopd.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw DiskError(
        fmt::format("{}: cannot make a folder: {}", parent.string(), std::strerror(errno)));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace ticopd
