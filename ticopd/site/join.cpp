#include <fmt/format.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/joined_site.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/site_transport.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Frames are allocated and freed all the time: their memory stays with the process. It costs most
// of a checkpoint's time to get it from the system again, and a large frame would get its own each
// time.
void keep_memory_of_frames() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

// The newest of the roster that was given and the one of the folder.
AdoptedRoster newest_roster(const JoinOptions& options, const SiteFolder& folder,
                            const std::optional<AdoptedRoster>& kept) {
  const fs::path beside = options.roster.parent_path() / "operator.pub";
  AdoptedRoster given =
      folder.read(options.roster, options.operator_file.empty() ? beside : options.operator_file);
  if (!kept || kept->bytes == given.bytes) return given;
  const Roster& before = kept->roster;
  if (given.roster.version < before.version) {
    if (options.say)
      options.say(fmt::format("{}: version {}; this site goes on with version {} of its folder",
                              options.roster.string(), given.roster.version, before.version));
    return *kept;
  }
  if (given.roster.version == before.version)
    throw ConfigError(
        fmt::format("{}: version {}, and this site has had another roster of version {}; a changed "
                    "roster needs a higher one",
                    options.roster.string(), given.roster.version, before.version));
  check_successor(before, given.roster);
  return given;
}

// Neighbours of the run before may not be those of the new one, so they are told first.
void tell_neighbours(const JoinOptions& options, const KeyPair& keys, const AdoptedRoster& before,
                     const AdoptedRoster& now, Connections& wire, SiteFolder& folder) {
  const int own = before.roster.position(options.as);
  if (own < 0 || same_run(before.roster, now.roster) ||
      before.roster.sites[static_cast<std::size_t>(own)].key != keys.public_key)
    return;
  wire.open(wire_settings(before.roster, own, keys, options.listen));
  folder.adopt(now);
  MachineClock clock;
  DiskStore store(folder.path());
  hand_on_roster({clock, wire, store}, names_of(before, own), names_of(now, own));
}

// The last summary of a site that the roster does not name any more.
json removed_from(const AdoptedRoster& adopted, const JoinOptions& options) {
  json summary = RunFolder(options.out).read_summary().value_or(json{{"iterations", 0}});
  summary["removed_by_version"] = adopted.roster.version;
  return summary;
}

}  // namespace

json join_network(const JoinOptions& options) {
  keep_memory_of_frames();
  SiteFolder folder(options.out);
  const std::optional<AdoptedRoster> kept = folder.kept();
  AdoptedRoster adopted = newest_roster(options, folder, kept);
  if (!kept) adopted.roster.find(options.as);
  const KeyPair keys = read_keys(options.key, KeyKind::site);
  Connections wire;
  if (kept) tell_neighbours(options, keys, *kept, adopted, wire, folder);
  for (;;) {
    const Roster& roster = adopted.roster;
    const int own = roster.position(options.as);
    if (own < 0) {
      folder.adopt(adopted);
      return removed_from(adopted, options);
    }
    check_own_key(roster, own, keys, options.key);
    EpochEnd end = run_epoch(options, adopted, own, keys, folder, wire);
    if (end.summary) return *end.summary;
    adopted = std::move(*end.next);
  }
}

}  // namespace ticopd
