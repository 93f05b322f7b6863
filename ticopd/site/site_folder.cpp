#include "ticopd/site/site_folder.hpp"

#include <fmt/format.h>

#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

FolderClaim locked(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_directory(path, error))
    throw UsageError(fmt::format("--out {}: is a file; expected a folder", path.string()));
  FolderClaim claim(path);
  claim.hold();
  return claim;
}

}  // namespace

SiteFolder::SiteFolder(fs::path path) : path_(std::move(path)), claim_(locked(path_)) {
  if (!fs::exists(path_ / "operator.pub") && !is_empty_folder(path_) &&
      !holds_only_unfinished(path_))
    throw UsageError(fmt::format("--out {}: holds files, but no site by ticopd; give a new folder",
                                 path_.string()));
}

AdoptedRoster SiteFolder::read(const fs::path& file, const fs::path& operator_file) const {
  const fs::path pinned = path_ / "operator.pub";
  const bool first = !fs::exists(pinned);
  std::string bytes = read_bytes(file);
  std::string signature = read_bytes(signature_file(file));
  std::string key = read_public_key(first ? operator_file : pinned, KeyKind::owner);
  check_signature(bytes, signature, key, file.string());
  Roster roster = parse_roster(bytes, file.string());
  check_roster(roster);
  // Nothing throws from here on: GCC 12 destroys the members of a braced object twice if one of its
  // later initializers throws.
  AdoptedRoster a{.roster = std::move(roster),
                  .bytes = std::move(bytes),
                  .signature = std::move(signature),
                  .operator_key = std::move(key)};
  if (first || !fs::exists(path_ / "roster.toml")) return a;
  const std::string before = read_bytes(path_ / "roster.toml");
  if (before == a.bytes) return a;
  const Roster kept = parse_roster(before, (path_ / "roster.toml").string());
  if (a.roster.version <= kept.version)
    throw ConfigError(fmt::format(
        "{}: version {}, and this site has had {} version {}; a changed roster needs a higher one",
        file.string(), a.roster.version,
        a.roster.version == kept.version ? "another roster of" : "", kept.version));
  return a;
}

void SiteFolder::adopt(const AdoptedRoster& a) {
  remove_unfinished(path_);
  // The operator first: it says that this is the folder of a site, whenever this is cut off.
  if (!fs::exists(path_ / "operator.pub"))
    write_atomically(
        path_ / "operator.pub",
        fmt::format("kind = \"operator\"\nname = \"operator\"\npublic = \"{}\"\n", a.operator_key));
  write_atomically(path_ / "roster.toml.sig", a.signature);
  write_atomically(path_ / "roster.toml", a.bytes);
}

}  // namespace ticopd
