#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "ticopd/experiment/claim.hpp"
#include "ticopd/site/introduction.hpp"
#include "ticopd/site/roster.hpp"
#include "ticopd/site/signed_roster.hpp"

namespace ticopd {

// A roster that was found good: signed by the operator whom this site follows.
struct AdoptedRoster {
  Roster roster;
  std::string bytes, signature;
  std::string operator_key;  // of the network's first operator
};

// What sites say of it, for the site with this number.
SiteNames names_of(const AdoptedRoster& adopted, int own);

// The folder of a site. It pins the operator at the first start: only a roster of the same
// operator, or of one who was named to follow, is taken later. The newest one that was taken is
// kept in it.
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
  // The same for one that a neighbour handed on.
  AdoptedRoster read(std::span<const std::byte> signed_roster) const;
  // The roster that this site follows; empty before the first start.
  std::optional<AdoptedRoster> kept() const;

  // Keeps it, before it is acted on.
  void adopt(const AdoptedRoster& roster);

 private:
  AdoptedRoster checked(SignedRoster roster, std::string operator_key,
                        const std::string& name) const;

  std::filesystem::path path_;
  FolderClaim claim_;
};

}  // namespace ticopd
