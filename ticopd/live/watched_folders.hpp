#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ticopd/report/report.hpp"

namespace ticopd {

// The folders of a live page. Files are read again only when they have changed, so looking at a
// hundred folders a few times a second costs little.
class WatchedFolders {
 public:
  // As `ticopd report` takes them; a folder may still be empty. Reads them: FormatError,
  // ConfigError.
  explicit WatchedFolders(std::vector<std::string> words);

  // Looks whether anything has changed, and reads it. A folder that was damaged or removed keeps
  // the rows it had, as a run that is stopped, with the reason. Throws nothing of the files.
  bool look();

  const Collection& collection() const { return collection_; }
  bool running() const;  // a run of them goes on

 private:
  // What tells that a file is another one: our writers replace files, they never write into them.
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::filesystem::path& file);

  struct Known {
    Stamp summary, metrics;
    Series series;                        // as read last; without rows: never read
    std::string trouble;                  // why it cannot be read now
    double changed_at = 0, asked_at = 0;  // rows came; its process was looked for
    bool in_use = true;
  };

  bool look_at_sites();
  Series read(const std::filesystem::path& folder);
  bool read_if_changed(const std::filesystem::path& folder, Known& known);
  Collection part(const std::string& word);
  static void tell_apart(std::vector<Series>& runs);
  void gather();
  std::vector<std::pair<std::filesystem::path, Stamp>> stamps() const;

  std::vector<std::string> words_;
  std::map<std::filesystem::path, Known> runs_;
  std::vector<std::pair<std::filesystem::path, Stamp>> seen_;  // the other files
  std::map<std::string, Collection> parts_;                    // by argument
  Collection collection_;
  double sites_seen_at_ = 0;
};

}  // namespace ticopd
