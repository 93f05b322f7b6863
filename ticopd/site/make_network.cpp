#include <fmt/format.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/messages.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/own_data.hpp"
#include "ticopd/site/roster.hpp"
#include "ticopd/site/signed_roster.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {

namespace fs = std::filesystem;

void make_key_files(const std::string& name, bool for_operator, const fs::path& folder) {
  if (const std::string why = why_no_name(name); !why.empty()) throw UsageError("the name " + why);
  write_keys(make_keys(for_operator ? KeyKind::owner : KeyKind::site, name), folder);
}

std::string hand_over_text(const fs::path& next, const fs::path& key) {
  return successor_text(
      hand_over(read_keys(key, KeyKind::owner), read_public_key(next, KeyKind::owner)));
}

void make_network(const NewNetwork& network) {
  Roster roster{.config = Config::read(network.config, network.set)};
  const int agents = configured_agents(roster.config);
  if (network.sites < 2 || network.sites > agents)
    throw UsageError(fmt::format("--sites {}: allowed are 2 to {}, the number of agents",
                                 network.sites, agents));
  if (network.port < 1 || network.port > 65536 - network.sites)
    throw UsageError(fmt::format("--port {}: allowed are 1 to {} for {} sites", network.port,
                                 65536 - network.sites, network.sites));
  roster.config = with_shard_facts(roster.config);
  std::vector<KeyPair> keys;
  for (int s = 0, next = 0; s < network.sites; ++s) {
    keys.push_back(make_keys(KeyKind::site, fmt::format("site-{}", s)));
    RosterSite site{.name = keys.back().name,
                    .agents = {},
                    .address = fmt::format("{}:{}", network.host, network.port + s),
                    .key = keys.back().public_key};
    for (const int end = agents * (s + 1) / network.sites; next < end; ++next)
      site.agents.push_back(next);
    roster.sites.push_back(std::move(site));
  }
  check_roster(roster);
  FolderClaim claim(network.out);
  claim.hold();
  if (!is_empty_folder(network.out))
    throw UsageError(
        fmt::format("--out {}: is not empty; give a new folder", network.out.string()));
  const KeyPair owner = make_keys(KeyKind::owner, "operator");
  write_keys(owner, network.out);
  for (const KeyPair& site : keys) write_keys(site, network.out);
  const std::string text = roster_text(roster);
  const fs::path file = network.out / "roster.toml";
  write_atomically(file, text);
  write_atomically(signature_file(file), signature_text(owner.public_key, sign(owner, text)));
}

void sign_roster(const fs::path& file, const fs::path& key, const fs::path& after) {
  const KeyPair owner = read_keys(key, KeyKind::owner);
  const std::string text = read_bytes(file);
  const Roster roster = parse_roster(text, file.string());
  check_roster(roster, file.string());
  if (!roster.operators.empty() && roster.operators.back().key != owner.public_key)
    throw ConfigError(
        fmt::format("{}: the operator {} signs it, the last of [[operator]]; {} is {}",
                    file.string(), roster.operators.back().key, key.string(), owner.public_key));
  if (!after.empty()) {
    const Roster before = parse_roster(read_bytes(after), after.string());
    check_successor(before, roster);
    if (roster.epoch > before.epoch && same_run(before, roster))
      throw ConfigError(fmt::format(
          "epoch {}: agents, graph and config are those of version {} in epoch {}, and a new epoch "
          "costs the rounds that were made; if a site has lost its disk, sign without --after",
          roster.epoch, before.version, before.epoch));
  }
  const std::string signature = signature_text(owner.public_key, sign(owner, text));
  if (const std::size_t size = pack({text, signature}).size(); size > piece_bytes)
    throw ConfigError(
        fmt::format("{}: {} bytes with its signature; allowed are {}, so that sites can hand it on "
                    "in one message",
                    file.string(), size, piece_bytes));
  write_atomically(signature_file(file), signature);
}

}  // namespace ticopd
