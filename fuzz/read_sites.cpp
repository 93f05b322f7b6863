#include "fuzz/read_sites.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fuzz/place.hpp"
#include "fuzz/want.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/roster.hpp"
#include "ticopd/site/signed_roster.hpp"
#include "ticopd/site/site_folder.hpp"
#include "ticopd/site/site_metrics.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// Larger graphs are allowed, and would take the time of thousands of inputs. A path could name any
// file of this machine.
constexpr int most_agents = 16;

bool is_small(const Roster& roster) {
  return roster.config.get<int>("graph.agents") <= most_agents && !roster.config.has("graph.path");
}

void replace_all(std::string& text, std::string_view word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
}

KeyPair keys_of(KeyKind kind) {
  return make_keys(kind, kind == KeyKind::site ? "site" : "operator");
}

// The folder of a finished site with one agent, whose model is zero.
constexpr std::size_t features = 3;

std::string hash_of_model() {
  const std::array<float, features> zero{};
  return hex_of(row_hash(std::as_bytes(std::span(zero))));
}

json right_run(int agent) {
  const std::string hash = hash_of_model();
  const std::string name = agent == 0 ? "a" : "b";
  const json ledger{
      {"agents", {{{"agent", agent}, {"messages", 1}, {"paper_bits", 24.0}, {"payload_bytes", 3}}}},
      {"links", {{{"from", agent}, {"to", 1 - agent}, {"payload_bytes", 3}}}}};
  const json site{
      {"name", name},      {"agents", {agent}},
      {"version", 1},      {"epoch", 1},
      {"network", "07"},   {"roster_config", {{"name", "pair"}, {"precision", "float"}}},
      {"resent_bytes", 0}, {"logged", {{0, {hash}}, {4, {hash}}}}};
  return {{"config", {{"name", "pair"}}},
          {"config_folder", "."},
          {"status", "finished"},
          {"digest", "00"},
          {"iterations", 4},
          {"agents", 2},
          {"seconds", {{"total", 1}}},
          {"inputs", {{"agents", {"00"}}}},
          {"ledger", ledger},
          {"site", site}};
}

std::string right_metrics() {
  std::string text = csv_header(site_columns()) + '\n';
  for (const std::uint32_t round : {0u, 4u}) {
    Metrics m;
    m.iteration = round;
    text += to_csv(m, site_columns()) + '\n';
  }
  return text;
}

json right_status() {
  return {{"name", "b"},
          {"state", "running"},
          {"round", 3},
          {"iterations", 4},
          {"peers", json::array()}};
}

// Puts the folders of both sites there, once.
const std::vector<std::filesystem::path>& sites() {
  static const std::vector<std::filesystem::path> all = [] {
    std::vector<std::filesystem::path> folders;
    const std::array<std::size_t, 2> shape{1, features};
    for (const int agent : {0, 1}) {
      const std::string folder = agent == 0 ? "site-a/" : "site-b/";
      const std::string zero(features * sizeof(float), '\0');
      place().put(folder + "final.npy", npy_head<float>(shape) + zero);
      place().put(folder + "start.npy", npy_head<float>(shape) + zero);
      place().put(folder + "operator.pub", "");
      place().put(folder + "status.json", right_status().dump());
      place().put(folder + "metrics.csv", right_metrics());
      folders.push_back(place().put(folder + "run.json", right_run(agent).dump()).parent_path());
    }
    return folders;
  }();
  return all;
}

// The collected folder is a run like any other.
void collect() {
  const std::filesystem::path out = place().folder() / "together";
  std::filesystem::remove_all(out);
  const json all = collect_network(sites(), out);
  want(all.is_object() && all["sites"].size() == 2);
}

// Text that an operator would sign here.
bool is_signed_by_operators(const std::string& text) try {
  return is_small(parse_roster(text, "roster.toml"));
} catch (const Error&) {
  return false;
}

SiteFolder& folder_of_a_site(const KeyPair& operator_keys) {
  static SiteFolder one = [&] {
    const auto file =
        place().put("site/operator.pub", "kind = \"operator\"\nname = \"operator\"\npublic = \"" +
                                             operator_keys.public_key + "\"\n");
    return SiteFolder(file.parent_path());
  }();
  return one;
}

// The roster that the site follows when it hears of another one.
const Roster& followed_roster() {
  static const Roster one = parse_roster(R"(version = 1
epoch = 1
[[site]]
name = "a"
agents = [0, 1]
address = "127.0.0.1:7400"
key = "=!J{R8z%cLq0E0GvZnYpDI3h>5/0-T{gv/V/Z^3Y"
[[site]]
name = "b"
agents = [2, 3]
key = "ha11eo)arB!QU[KKphBuKpcVo*38A@5JpYF9y=?s"
[config]
name = "pair"
graph = {kind = "ring", agents = 4}
problem = {data = "synthetic", samples = 12, features = 2, partition = "iid"}
algorithm = {name = "ticopd", alpha = 0.1, theta = 1, eta = 0.1}
)",
                                         "roster.toml");
  return one;
}

}  // namespace

void read_roster(std::string_view content) {
  const Roster roster = parse_roster(content, "roster.toml");
  const std::string text = roster_text(roster);
  want(roster_text(read_again([&] { return parse_roster(text, "again"); })) == text);
  if (!is_small(roster)) return;
  check_roster(roster);
  want(roster.agents() <= most_agents);
  want(roster.sites.size() <= static_cast<std::size_t>(roster.agents()));
  for (const RosterSite& s : roster.sites) want(roster.find(s.name) >= 0);
  network_number(roster, "operator");
}

// @operator and @signature stand for those that are right.
void read_signature(std::string_view content) {
  const std::string roster = "a roster";
  static const KeyPair keys = keys_of(KeyKind::owner);
  static const std::string right = sign(keys, roster);
  std::string text(content);
  replace_all(text, "@operator", keys.public_key);
  replace_all(text, "@signature", right);
  check_signature(roster, text, keys.public_key, "roster.toml");
  want(text.find(keys.public_key) != std::string::npos && text.find(right) != std::string::npos);
}

// A roster and its signature in one piece, as a neighbour hands it on. @operator and @signature
// stand for those that are right; no operator signs text that is no roster.
void read_signed_roster(std::string_view content) {
  const auto bytes = std::as_bytes(std::span(content));
  SignedRoster parts = unpack_roster(bytes);
  want(std::ranges::equal(pack(parts), bytes));
  static const KeyPair keys = keys_of(KeyKind::owner);
  replace_all(parts.signature, "@operator", keys.public_key);
  if (parts.signature.find("@signature") != std::string::npos && is_signed_by_operators(parts.text))
    replace_all(parts.signature, "@signature", sign(keys, parts.text));
  const Bytes packed = pack(parts);
  SiteFolder& folder = folder_of_a_site(keys);
  const AdoptedRoster heard = folder.read(packed);
  want(heard.bytes == parts.text && heard.operator_key == keys.public_key);
  want(names_of(heard, 0).signed_roster == packed);
  check_successor(followed_roster(), heard.roster);
  folder.adopt(heard);
  const std::optional<AdoptedRoster> kept = folder.kept();
  want(kept && kept->bytes == heard.bytes && kept->signature == heard.signature);
}

// @public and @secret stand for the keys of a site, or of an operator if the text has that word.
void read_key(std::string_view content) {
  static const KeyPair site = keys_of(KeyKind::site), owner = keys_of(KeyKind::owner);
  const KeyPair& keys = content.find("operator") == std::string_view::npos ? site : owner;
  std::string text(content);
  replace_all(text, "@public", keys.public_key);
  replace_all(text, "@secret", keys.secret);
  const auto file = place().put("a.key", text);
  static const int mode = ::chmod(file.c_str(), 0600);
  want(mode == 0);
  if (accepts([&] { want(read_keys(file, keys.kind).secret.size() == keys.secret.size()); }))
    return;
  accepts([&] { want(is_key(read_public_key(file, keys.kind))); });
}

// @hash stands for that of the model in the folder.
void read_site_run(std::string_view content) {
  sites();
  static const std::string hash = hash_of_model();
  std::string text(content);
  replace_all(text, "@hash", hash);
  place().put("site-a/run.json", text);
  collect();
}

// @header stands for the one that sites write.
void read_site_metrics(std::string_view content) {
  sites();
  static const std::string header = csv_header(site_columns());
  std::string text(content);
  replace_all(text, "@header", header);
  place().put("site-a/metrics.csv", text);
  collect();
}

void read_site_status(std::string_view content) {
  sites();
  place().put("site-a/status.json", content);
  want(network_status(sites()).size() == 2);
}

}  // namespace ticopd
