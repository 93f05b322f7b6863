#include "ticopd/sim/sim_store.hpp"

#include <utility>

#include "ticopd/error.hpp"

namespace ticopd {

std::vector<std::string> SimDisk::list() const {
  std::vector<std::string> all;
  for (const auto& [name, file] : names_) all.push_back(name);
  return all;
}

Bytes SimDisk::read(const std::string& file) const {
  const auto found = names_.find(file);
  if (found == names_.end()) throw DiskError(file + ": there is no such file");
  return found->second->seen;
}

void SimDisk::change(Change what) {
  what(names_);
  changes_.push_back(std::move(what));
}

void SimDisk::write(const std::string& file, std::span<const std::byte> bytes) {
  const auto content = std::make_shared<File>();
  change([=](Names& names) { names[file] = content; });
  const std::size_t written = full ? bytes.size() / 2 : bytes.size();
  content->seen.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(written));
  if (full) throw DiskError(file + ": No space left on device");
}

// After a failed fsync the system may have dropped the pages: nothing is known of the file.
void SimDisk::sync(const std::string& file, bool fails, SimRandom& random) {
  const auto found = names_.find(file);
  if (found == names_.end()) throw DiskError(file + ": there is no such file");
  File& f = *found->second;
  if (fails) {
    if (random.chance(500) && !f.seen.empty())
      f.kept.assign(
          f.seen.begin(),
          f.seen.begin() + random.between(0, static_cast<std::int64_t>(f.seen.size()) - 1));
    throw DiskError(file + ": Input/output error");
  }
  f.kept = f.seen;
}

void SimDisk::rename(const std::string& from, const std::string& to) {
  if (!names_.contains(from)) throw DiskError(from + ": there is no such file");
  change([=](Names& names) {
    if (const auto found = names.find(from); found != names.end()) {
      names[to] = found->second;
      names.erase(from);
    }
  });
}

void SimDisk::remove(const std::string& file) {
  change([=](Names& names) { names.erase(file); });
}

void SimDisk::sync_folder() {
  kept_names_ = names_;
  changes_.clear();
}

void SimDisk::lose_power(SimRandom& random) {
  const auto made = random.between(0, static_cast<std::int64_t>(changes_.size()));
  for (std::int64_t i = 0; i < made; ++i) changes_[static_cast<std::size_t>(i)](kept_names_);
  changes_.clear();
  names_ = kept_names_;
  for (auto& [name, file] : names_) {
    if (file->seen == file->kept) continue;
    switch (random.between(0, 2)) {
      case 0:  // all of it was written
        break;
      case 1:  // the beginning, or what was there at the last flush
        file->seen = file->kept;
        break;
      default:
        file->seen.resize(static_cast<std::size_t>(
            random.between(0, static_cast<std::int64_t>(file->seen.size()))));
    }
    file->kept = file->seen;
  }
}

bool SimDisk::flip_bit(const std::string& ending, SimRandom& random) {
  for (auto at = names_.rbegin(); at != names_.rend(); ++at) {
    if (!at->first.ends_with(ending) || at->second->seen.empty()) continue;
    Bytes& bytes = at->second->seen;
    const auto bit = random.between(0, static_cast<std::int64_t>(8 * bytes.size()) - 1);
    bytes[static_cast<std::size_t>(bit / 8)] ^= std::byte{1} << (bit % 8);
    at->second->kept = bytes;
    return true;
  }
  return false;
}

}  // namespace ticopd
