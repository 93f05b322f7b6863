#include "ticopd/system/stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = 1 << 18;

// zlib's stream, freed on every way out.
struct Inflater : z_stream {
  Inflater() : z_stream{} {
    if (inflateInit2(this, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(this); }
};

}  // namespace

// The content piece by piece.
class FileStream::Bytes {
 public:
  Bytes(const fs::path& file, bool unzip)
      // O_NONBLOCK: to open a pipe without a writer would wait where no signal is heard.
      : file_(file), fd_(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (fd_ < 0)
      throw FormatError(fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
    try {
      start(unzip);
    } catch (...) {
      ::close(fd_);
      throw;
    }
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { ::close(fd_); }

  // The next bytes, at most `most`; empty only at the end.
  std::string_view next(std::size_t most) {
    if (piece_.empty()) piece_ = inflater_ ? inflated() : raw();
    const std::string_view given = piece_.substr(0, most);
    piece_.remove_prefix(given.size());
    given_ += given.size();
    return given;
  }

  std::optional<std::size_t> left() const {
    if (inflater_ || size_ == 0) return std::nullopt;
    return size_ - std::min(size_, given_);
  }

 private:
  void start(bool unzip) {
    struct stat info {};
    if (::fstat(fd_, &info) != 0) fail("stat");
    if (S_ISDIR(info.st_mode))
      throw FormatError(fmt::format("{}: is a folder, expected a file", file_.string()));
    // A small file needs a small buffer: to take and clear 256 KiB costs more than to read a page.
    std::size_t piece = piece_bytes;
    regular_ = S_ISREG(info.st_mode);
    if (regular_) {
      size_ = static_cast<std::size_t>(info.st_size);
      piece = std::clamp<std::size_t>(size_, 4096, piece_bytes);
    }
    buffer_.resize(piece);
    std::size_t have = 0;  // a pipe may bring a single byte at first
    while (have < 2) {
      const std::size_t got = fill(have);
      if (got == 0) break;
      have += got;
    }
    piece_ = std::string_view(buffer_).substr(0, have);
    fed_ = have;
    if (!unzip || !piece_.starts_with("\x1f\x8b")) return;
    inflater_.emplace();
    feed(std::exchange(piece_, {}));
    unzipped_.resize(piece_bytes);
  }

  [[noreturn]] void fail(const char* doing) const {
    throw DiskError(fmt::format("{}: cannot {}: {}", file_.string(), doing, std::strerror(errno)));
  }

  // Waits until a pipe has something to read, or has ended. A signal must be heard meanwhile.
  void wait_for_bytes() const {
    for (pollfd source{fd_, POLLIN, 0}; ::poll(&source, 1, /*milliseconds=*/100) <= 0;)
      if (StopScope::asked())
        throw Interrupted(fmt::format("interrupted while {} was read", file_.string()));
  }

  std::size_t fill(std::size_t from) {
    for (;;) {
      if (!regular_) wait_for_bytes();
      const ssize_t got = ::read(fd_, buffer_.data() + from, buffer_.size() - from);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR && errno != EAGAIN) fail("read");
    }
  }

  std::string_view raw() {
    const std::size_t got = fill(0);
    fed_ += got;
    return std::string_view(buffer_).substr(0, got);
  }

  void feed(std::string_view zipped) {
    inflater_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(zipped.data()));
    inflater_->avail_in = static_cast<uInt>(zipped.size());
  }

  std::string_view inflated() {
    for (;;) {
      if (inflater_->avail_in == 0) feed(raw());
      if (inflater_->avail_in == 0) {
        if (state_ == Z_STREAM_END) return {};
        throw FormatError(
            fmt::format("{}: the gzip archive is cut off after {} bytes", file_.string(), fed_));
      }
      // An archive may hold several members one after the other.
      if (state_ == Z_STREAM_END) inflateReset(&*inflater_);
      inflater_->next_out = reinterpret_cast<Bytef*>(unzipped_.data());
      inflater_->avail_out = static_cast<uInt>(unzipped_.size());
      state_ = inflate(&*inflater_, Z_NO_FLUSH);
      if (state_ != Z_OK && state_ != Z_STREAM_END)
        throw FormatError(
            fmt::format("{}: the gzip archive is damaged: {}", file_.string(),
                        inflater_->msg != nullptr ? inflater_->msg : "it does not inflate"));
      const std::size_t made = unzipped_.size() - inflater_->avail_out;
      if (made > 0) return std::string_view(unzipped_).substr(0, made);
    }
  }

  fs::path file_;
  int fd_;
  bool regular_ = false;
  std::size_t size_ = 0;  // 0: unknown
  std::size_t fed_ = 0;   // bytes that came from the disk
  std::size_t given_ = 0;
  std::string buffer_;
  std::string unzipped_;
  std::string_view piece_;  // read, not yet given
  std::optional<Inflater> inflater_;
  int state_ = Z_OK;
};

FileStream::FileStream(const fs::path& file, bool unzip)
    : bytes_(std::make_unique<Bytes>(file, unzip)) {}

FileStream::~FileStream() = default;
FileStream::FileStream(FileStream&&) noexcept = default;

std::size_t FileStream::read(std::string& out, std::size_t count) {
  std::size_t have = 0;
  while (have < count) {
    const std::string_view piece = bytes_->next(count - have);
    if (piece.empty()) break;
    out.append(piece);
    have += piece.size();
  }
  return have;
}

std::size_t FileStream::drain() {
  std::size_t dropped = 0;
  for (;;) {
    const std::size_t more = bytes_->next(std::numeric_limits<std::size_t>::max()).size();
    if (more == 0) return dropped;
    dropped += more;
  }
}

std::optional<std::size_t> FileStream::left() const {
  return bytes_->left();
}

bool LineStream::next(std::string_view& line) {
  if (!cut(line)) return false;
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (std::exchange(first_, false) && line.starts_with(mark)) line.remove_prefix(mark.size());
  return true;
}

bool LineStream::cut(std::string_view& line) {
  std::size_t searched = at_;
  for (;;) {
    const auto end = held_.find('\n', searched);
    if (end != std::string::npos) {
      line = std::string_view(held_).substr(at_, end - at_);
      at_ = end + 1;
      return true;
    }
    held_.erase(0, at_);
    at_ = 0;
    searched = held_.size();
    if (file_.read(held_, piece_bytes) > 0) continue;
    line = held_;
    at_ = held_.size();
    return !line.empty();
  }
}

}  // namespace ticopd
