#include "ticopd/site/disk_store.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {

namespace fs = std::filesystem;

void DiskStore::trouble(const std::string& file, const char* doing) const {
  const int error = errno;
  throw DiskError(
      fmt::format("{}: cannot {}: {}", (folder_ / file).string(), doing, std::strerror(error)));
}

std::vector<std::string> DiskStore::list() {
  std::vector<std::string> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error))
    all.push_back(entry.path().filename().string());
  if (error)
    throw DiskError(fmt::format("{}: cannot be listed: {}", folder_.string(), error.message()));
  std::ranges::sort(all);
  return all;
}

Bytes DiskStore::read(const std::string& file) {
  const std::string text = read_bytes(folder_ / file);
  return to_bytes<char>(std::span(text));
}

void DiskStore::write(const std::string& file, std::span<const std::byte> bytes) {
  open_.erase(file);
  Descriptor fd = create_file(folder_ / file);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) trouble(file, "be written");
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  open_.emplace(file, std::move(fd));
}

// A failed flush is never tried again on the same file: the kernel forgets what it could not write.
void DiskStore::sync(const std::string& file) {
  auto held = open_.extract(file);
  if (held.empty())
    throw DiskError(fmt::format("{}: is not open to be flushed", (folder_ / file).string()));
  if (::fsync(held.mapped().get()) != 0 || held.mapped().close() != 0) trouble(file, "be flushed");
}

void DiskStore::rename(const std::string& from, const std::string& to) {
  if (::rename((folder_ / from).c_str(), (folder_ / to).c_str()) != 0) trouble(to, "be renamed to");
}

void DiskStore::remove(const std::string& file) {
  open_.erase(file);
  if (::unlink((folder_ / file).c_str()) != 0 && errno != ENOENT) trouble(file, "be removed");
}

void DiskStore::sync_folder() {
  ticopd::sync_folder(folder_);
}

Time MachineClock::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::uint64_t MachineClock::random() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

}  // namespace ticopd
