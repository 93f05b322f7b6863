#include "ticopd/site/site_folder.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/kept_roster.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/transport/frame.hpp"

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

AdoptedRoster SiteFolder::checked(SignedRoster r, std::string key, const std::string& name) const {
  const std::vector<Successor> operators = successors_of(toml_table(r.text, name), name);
  check_signature(r.text, r.signature, signer_of(operators, key, name), name);
  Roster roster = parse_roster(r.text, name);
  check_roster(roster, name);
  // Nothing throws from here on: GCC 12 destroys the members of a braced object twice if one of its
  // later initializers throws.
  return {.roster = std::move(roster),
          .bytes = std::move(r.text),
          .signature = std::move(r.signature),
          .operator_key = std::move(key)};
}

AdoptedRoster SiteFolder::read(const fs::path& file, const fs::path& operator_file) const {
  const fs::path pinned = path_ / "operator.pub";
  std::string text = read_bytes(file);
  std::string signature = read_bytes(signature_file(file));
  return checked({std::move(text), std::move(signature)},
                 read_public_key(fs::exists(pinned) ? pinned : operator_file, KeyKind::owner),
                 file.string());
}

AdoptedRoster SiteFolder::read(std::span<const std::byte> signed_roster) const {
  return checked(unpack_roster(signed_roster),
                 read_public_key(path_ / "operator.pub", KeyKind::owner), "the roster");
}

// A folder of an earlier version has only the copy for readers.
std::optional<AdoptedRoster> SiteFolder::kept() const {
  if (!fs::exists(path_ / "operator.pub")) return std::nullopt;
  DiskStore store(path_);
  if (const Bytes bytes = KeptRoster(store).read(); !bytes.empty()) return read(bytes);
  if (!fs::exists(path_ / "roster.toml")) return std::nullopt;
  return read(path_ / "roster.toml", {});
}

void SiteFolder::adopt(const AdoptedRoster& a) {
  remove_unfinished(path_);
  // The operator first: it says that this is the folder of a site, whenever this is cut off.
  if (!fs::exists(path_ / "operator.pub"))
    write_atomically(
        path_ / "operator.pub",
        fmt::format("kind = \"operator\"\nname = \"operator\"\npublic = \"{}\"\n", a.operator_key));
  DiskStore store(path_);
  const Bytes packed = pack({a.bytes, a.signature});
  if (KeptRoster kept(store); kept.read() != packed) kept.write(packed);
  write_atomically(path_ / "roster.toml.sig", a.signature);  // for readers
  write_atomically(path_ / "roster.toml", a.bytes);
}

SiteNames names_of(const AdoptedRoster& a, int own) {
  SiteNames names{.names = {},
                  .own = own,
                  .network = network_number(a.roster, a.operator_key),
                  .roster = {.owner = owner_number(a.roster, a.operator_key),
                             .bytes = hash_row(std::as_bytes(std::span(a.bytes))),
                             .version = a.roster.version,
                             .epoch = a.roster.epoch},
                  .signed_roster = pack({a.bytes, a.signature})};
  for (const RosterSite& s : a.roster.sites) names.names.push_back(s.name);
  return names;
}

}  // namespace ticopd
