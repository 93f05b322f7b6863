#pragma once

#include <filesystem>
#include <string>

#include "ticopd/experiment/claim.hpp"
#include "ticopd/site/roster.hpp"

namespace ticopd {

// A roster that was found good: signed by the operator whom this site follows.
struct AdoptedRoster {
  Roster roster;
  std::string bytes, signature, operator_key;
};

// The folder of a site. It pins the operator at the first start: only a roster of the same operator
// is taken later, and no older one.
class SiteFolder {
 public:
  // Creates and locks the folder; it is removed again while it is empty. UsageError if it holds
  // something else, or another process has it.
  explicit SiteFolder(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  // Reads a roster and checks everything about it; writes nothing. `operator_file` is read only if
  // no operator is pinned yet.
  AdoptedRoster read(const std::filesystem::path& roster,
                     const std::filesystem::path& operator_file) const;
  // Keeps it, before it is acted on.
  void adopt(const AdoptedRoster& roster);

 private:
  std::filesystem::path path_;
  FolderClaim claim_;
};

}  // namespace ticopd
