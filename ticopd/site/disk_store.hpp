#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ticopd/site/world.hpp"
#include "ticopd/system/descriptor.hpp"

namespace ticopd {

// A site's files in a folder of this machine. The caller holds the folder's lock (FolderClaim).
class DiskStore final : public Store {
 public:
  explicit DiskStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::vector<std::string> list() override;
  Bytes read(const std::string& file) override;
  void write(const std::string& file, std::span<const std::byte> bytes) override;
  void sync(const std::string& file) override;
  void rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& file) override;
  void sync_folder() override;

 private:
  [[noreturn]] void trouble(const std::string& file, const char* doing) const;

  std::filesystem::path folder_;
  // Open from `write` to `sync`: a file that is opened anew may not hear of an earlier failure.
  std::map<std::string, Descriptor> open_;
};

// The clock of this machine that never goes back, and the random numbers of its kernel.
class MachineClock final : public Clock {
 public:
  Time now() override;
  std::uint64_t random() override;
};

}  // namespace ticopd
