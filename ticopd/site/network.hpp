#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// What `ticopd network` does: sites on machines of their own that run one experiment together.
namespace ticopd {

struct NewNetwork {
  std::filesystem::path config;
  std::vector<std::string> set;  // overrides of the config, KEY=VALUE
  int sites = 0;
  std::string host = "127.0.0.1";
  int port = 7400;  // of the first site; the others have the next ones
  std::filesystem::path out;
};
// Writes roster.toml, its signature and all keys into a new folder. ConfigError before anything is
// written.
void make_network(const NewNetwork& network);

// NAME.key and NAME.pub in this folder.
void make_key_files(const std::string& name, bool for_operator,
                    const std::filesystem::path& folder);

// The entry of a roster by which the operator with this secret key names the next one, whose public
// key is in the file `next`.
std::string hand_over_text(const std::filesystem::path& next, const std::filesystem::path& key);

// Checks a roster and writes its signature beside it. `after`: the roster before it, which it must
// be able to follow; empty: none.
void sign_roster(const std::filesystem::path& roster, const std::filesystem::path& key,
                 const std::filesystem::path& after = {});

struct JoinOptions {
  std::filesystem::path roster, key, out;
  std::string as;                       // the site's name
  std::filesystem::path operator_file;  // empty: operator.pub beside the roster
  std::string data, test;               // in place of problem.data, problem.test
  std::string listen;                   // in place of the roster's address
  int threads = 0;
  bool offline = false;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string&)> say = {};
  std::function<void(const nlohmann::json& status)> on_status = {};  // about once a second
};
// Runs one site to the end, from what its folder holds, and returns its run.json. Throws
// Interrupted if it was stopped, or if a neighbour may still need it: start it again.
nlohmann::json join_network(const JoinOptions& options);

// What the folders of sites say: {"name", "up", "state", "round", "iterations", "waiting", ...}
// each.
nlohmann::json network_status(const std::vector<std::filesystem::path>& folders);

// Makes one run folder of the folders of all sites, each finished: run.json with the run's digest,
// metrics.csv, final.npy. Returns run.json. FormatError naming the folder that does not fit.
nlohmann::json collect_network(const std::vector<std::filesystem::path>& folders,
                               const std::filesystem::path& out);

}  // namespace ticopd
