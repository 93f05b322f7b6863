#include <fmt/format.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/experiment/summary.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/site.hpp"
#include "ticopd/site/site_folder.hpp"
#include "ticopd/site/site_metrics.hpp"
#include "ticopd/site/site_wire.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The config of the roster with this site's own files. A path in the roster is another machine's.
Config with_own_data(const Config& config, const JoinOptions& options) {
  json tree = config.tree();
  json& problem = tree["problem"];
  if (!options.data.empty()) {
    problem["data"] = options.data;
  } else if (const auto data = problem["data"].get<std::string>();
             data.find(':') != std::string::npos) {
    throw ConfigError(
        fmt::format("problem.data = \"{}\": a path of the roster is not used; say with --data what "
                    "to read here",
                    data));
  }
  if (!options.test.empty())
    problem["test"] = options.test;
  else if (problem.value("test", json("")) != json(""))
    throw ConfigError(fmt::format(
        "problem.test = {}: a path of the roster is not used; say with --test what to read here",
        problem["test"].dump()));
  return Config::resolved(std::move(tree), ".");
}

// Where to listen: the port of the roster's address, on all interfaces unless it is of this machine
// alone.
std::string listen_at(const RosterSite& site, const std::string& given) {
  if (!given.empty()) {
    parse_address(given, "--listen");
    return given;
  }
  if (site.address.empty()) return {};
  const Address a = parse_address(site.address, "address");
  if (a.host == "localhost") return fmt::format("127.0.0.1:{}", a.port);
  if (a.host.starts_with("127.") || a.host == "[::1]") return site.address;
  return fmt::format("{}:{}", a.host.starts_with('[') ? "[::]" : "*", a.port);
}

WireSettings wire_settings(const Roster& roster, int own, const Graph& graph, const KeyPair& keys,
                           const std::string& listen) {
  WireSettings settings{.own = own, .sites = {}, .secret = from_z85(keys.secret), .listen = listen};
  const auto neighbours = neighbouring_sites(roster, graph);
  for (std::size_t i = 0; i < roster.sites.size(); ++i)
    settings.sites.push_back({.name = roster.sites[i].name,
                              .address = roster.sites[i].address,
                              .key = from_z85(roster.sites[i].key),
                              .neighbour = neighbours[static_cast<std::size_t>(own)][i]});
  return settings;
}

// Frames are allocated and freed all the time: their memory stays with the process. It costs most of
// a checkpoint's time to get it from the system again.
void keep_memory_of_frames() {
#if defined(__GLIBC__)
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

// One site from its folder to the end of the run.
template <class T>
class Join {
 public:
  Join(const JoinOptions& options, const Config& config, const AdoptedRoster& adopted, int own,
       SiteFolder& folder, SiteWire& wire)
      : options_(options),
        config_(config),
        roster_(adopted.roster),
        own_(own),
        name_(roster_.sites[static_cast<std::size_t>(own)].name),
        files_(folder.path(), site_columns()),
        store_(folder.path()),
        wire_(wire),
        network_(network_number(roster_, adopted.operator_key)),
        prepared_(prepare<T>(config, prepare_options())) {
    const Setup<T>& s = prepared_.setup;
    const std::vector<int> blocks = roster_.blocks();
    inputs_ =
        hosted_inputs(s, Placement(s.graph, static_cast<int>(blocks.size()), own, {}, blocks));
  }

  json operator()() {
    site_ = std::make_unique<Site<T>>(prepared_.algorithm, prepared_.setup,
                                      World{clock_, wire_, store_}, site_options());
    refuse_other_inputs();
    for (const LoggedRows& l : site_->logged()) lines_.push_back(l.metrics);
    files_.set_metrics(lines_);
    files_.write_summary(summary("running"));
    SiteEnd end{};
    try {
      end = site_->run();
    } catch (const Diverged& e) {
      write("diverged", e.what());
      throw Diverged(fmt::format("{}; {}", e.what(), advice_after_divergence(config_)));
    } catch (const Interrupted& e) {
      write("interrupted", e.what());
      throw;
    } catch (const Error& e) {
      write_if_possible("interrupted", e.what());
      throw;
    }
    if (end != SiteEnd::stopped) write_final();
    write(end == SiteEnd::stopped ? "interrupted" : "finished", "");
    if (end == SiteEnd::stopped)
      throw Interrupted(fmt::format("stopped after round {}; all is saved, start it again to go on",
                                    site_->round()));
    if (end == SiteEnd::unconfirmed)
      throw Interrupted(
          "finished, but a neighbour may still need frames of this site; start it again");
    return summary("finished");
  }

 private:
  PrepareOptions prepare_options() const {
    PrepareOptions p{.threads = options_.threads, .offline = options_.offline, .say = options_.say};
    p.rank = own_;
    p.ranks = static_cast<int>(roster_.sites.size());
    p.blocks = roster_.blocks();
    return p;
  }

  SiteOptions site_options() {
    SiteOptions o;
    for (const RosterSite& s : roster_.sites) o.sites.names.push_back(s.name);
    o.sites.own = own_;
    o.sites.network = network_;
    o.checkpoint_rounds = prepared_.setup.saving.every;
    const double every_s = prepared_.setup.saving.every_s;
    o.checkpoint_time =
        every_s > 0 ? static_cast<Time>(every_s * one_second) : 1'000'000 * one_second;
    o.measure = true;
    o.stop = options_.stop;
    o.on_log = [this](const LoggedRows& l) {
      lines_.push_back(l.metrics);
      try_to_write([&] { files_.add_metrics(l.metrics); });
    };
    o.on_round = [this](std::uint32_t) { tell("running", {}, 0, false); };
    o.on_wait = [this](int site, Time since) {
      tell("waiting", roster_.sites[static_cast<std::size_t>(site)].name, clock_.now() - since,
           false);
      if (options_.stop != nullptr && options_.stop->load())
        throw Interrupted(fmt::format(
            "stopped while {} is waited for; start it again to go on from the last checkpoint",
            roster_.sites[static_cast<std::size_t>(site)].name));
      const double waited = static_cast<double>(clock_.now() - since) / one_second;
      if (give_up_s_ > 0 && waited > give_up_s_)
        throw Interrupted(fmt::format(
            "{} was waited for past network.give_up_s = {}; start this site again to go on from "
            "the last checkpoint",
            roster_.sites[static_cast<std::size_t>(site)].name, give_up_s_));
    };
    o.on_parting = [this] { tell("parting", {}, 0, false); };
    o.on_trouble = [this](const std::string& what) { warn("no checkpoint: " + what); };
    return o;
  }

  void warn(const std::string& what) const {
    if (options_.say) options_.say("warning: " + what);
  }

  // Files that say how it goes. A full disk does not end the run: they are written again later.
  template <class Write>
  void try_to_write(const Write& write) {
    try {
      write();
      disk_fails_ = false;
    } catch (const DiskError& e) {
      if (!std::exchange(disk_fails_, true)) warn(e.what());
    }
  }

  // Another data set at the next start would change what this site makes again.
  void refuse_other_inputs() {
    const std::optional<json> before = files_.read_summary();
    if (!before) return;
    if (const std::string difference =
            difference_of_inputs(inputs_, before->value("inputs", json()));
        !difference.empty())
      throw ConfigError(
          fmt::format("{} holds another run: {}", files_.path().string(), difference));
  }

  // status.json, about once a second.
  void tell(const std::string& state, const std::string& waiting, Time waited, bool now) {
    if (!now && seconds_now() < told_at_ + 1) return;
    told_at_ = seconds_now();
    const WireCounts& counts = wire_.counts();
    json peers = json::array();
    for (std::size_t i = 0; i < roster_.sites.size(); ++i) {
      const Session& s = site_->transport().at(static_cast<int>(i));
      if (counts.sent[i] == 0 && counts.received[i] == 0 && !s.used()) continue;
      peers.push_back({{"name", roster_.sites[i].name},
                       {"connected", s.connected()},
                       {"confirmed", s.confirmed()},
                       {"sent_bytes", counts.sent[i]},
                       {"received_bytes", counts.received[i]}});
    }
    json status{{"name", name_},
                {"state", state},
                {"round", site_->round()},
                {"iterations", prepared_.setup.iterations},
                {"version", roster_.version},
                {"epoch", roster_.epoch},
                {"seconds", site_->seconds()},
                {"resent_bytes", site_->transport().resent_bytes()},
                {"refused_connections", counts.refused},
                {"dropped_messages", counts.dropped},
                {"cut_connections", counts.cut_off},
                {"peers", std::move(peers)},
                {"date", utc_now()}};
    if (!waiting.empty())
      status["waiting"] = {{"site", waiting},
                           {"seconds", static_cast<double>(waited) / one_second}};
    try_to_write([&] { write_atomically(files_.path() / "status.json", json_text(status)); });
    if (options_.on_status) options_.on_status(status);
  }

  std::string own_digest() const {
    Digest digest;
    for (const LoggedRows& l : site_->logged()) digest.add(l.round, l.rows);
    return digest.hex();
  }

  json summary(const std::string& status, const std::string& reason = "") {
    Solution<T> solution;
    solution.rounds = site_->round();
    solution.digest = own_digest();
    solution.seconds = site_->seconds();
    json j = summary_json(config_, prepared_, inputs_, {status, reason}, solution);
    j.erase("share");
    j["ledger"] = own_ledger();
    json logged = json::array();
    for (const LoggedRows& l : site_->logged()) {
      json rows = json::array();
      for (const RowHash& hash : l.rows) rows.push_back(hex_of(hash));
      logged.push_back({l.round, std::move(rows)});
    }
    const RosterSite& site = roster_.sites[static_cast<std::size_t>(own_)];
    j["site"] = {{"name", name_},
                 {"agents", site.agents},
                 {"version", roster_.version},
                 {"epoch", roster_.epoch},
                 {"network", fmt::format("{:016x}", network_)},
                 {"roster_config", roster_.config.tree()},
                 {"resent_bytes", site_->transport().resent_bytes()},
                 {"logged", std::move(logged)}};
    return j;
  }

  json own_ledger() const {
    const Graph& graph = prepared_.setup.graph;
    const json hosted = site_->ledger();
    const std::vector<int>& mine = roster_.sites[static_cast<std::size_t>(own_)].agents;
    std::vector<Ledger::Agent> all(static_cast<std::size_t>(graph.agents()));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].link_bytes.resize(static_cast<std::size_t>(graph.degree(static_cast<int>(i))));
    for (std::size_t row = 0; row < mine.size(); ++row)
      all[static_cast<std::size_t>(mine[row])] =
          ledger_agent(hosted[row], static_cast<std::size_t>(graph.degree(mine[row])));
    json ledger = ledger_json(all, graph);
    const auto keep = [&](const char* list, const char* agent) {
      json kept = json::array();
      for (const json& entry : ledger[list])
        if (entry[agent] >= mine.front() && entry[agent] <= mine.back()) kept.push_back(entry);
      ledger[list] = std::move(kept);
    };
    keep("agents", "agent");
    keep("links", "from");
    return ledger;
  }

  // The models of this site's agents.
  void write_final() {
    const Field<T>& x = site_->x();
    const std::size_t shape[] = {x.rows(), x.cols()};
    std::string bytes = npy_head<T>(shape);
    for (std::size_t row = 0; row < x.rows(); ++row) {
      const std::span<const T> values = x.row(row);
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    write_atomically(files_.path() / "final.npy", bytes);
  }

  void write(const std::string& status, const std::string& reason) {
    files_.publish_metrics(true);
    files_.write_summary(summary(status, reason));
    tell(status, {}, 0, true);
  }
  void write_if_possible(const std::string& status, const std::string& reason) {
    try {
      write(status, reason);
    } catch (const DiskError&) {  // the trouble that is on its way says more
    }
  }

  const JoinOptions& options_;
  const Config& config_;
  const Roster& roster_;
  int own_;
  std::string name_;
  RunFolder files_;
  MachineClock clock_;
  DiskStore store_;
  SiteWire& wire_;
  std::uint64_t network_;
  Prepared<T> prepared_;
  json inputs_;
  std::vector<std::string> lines_;
  double give_up_s_ = config_.get<double>("network.give_up_s");
  double told_at_ = 0;
  bool disk_fails_ = false;
  std::unique_ptr<Site<T>> site_;
};

}  // namespace

json join_network(const JoinOptions& options) {
  keep_memory_of_frames();
  SiteFolder folder(options.out);
  const fs::path beside = options.roster.parent_path() / "operator.pub";
  const AdoptedRoster adopted =
      folder.read(options.roster, options.operator_file.empty() ? beside : options.operator_file);
  const Roster& roster = adopted.roster;
  const int own = roster.find(options.as);
  const RosterSite& site = roster.sites[static_cast<std::size_t>(own)];
  const KeyPair keys = read_keys(options.key, KeyKind::site);
  if (keys.public_key != site.key)
    throw ConfigError(fmt::format("{}: is not the key that the roster has for site {}",
                                  options.key.string(), site.name));
  const Config config = with_own_data(roster.config, options);
  const std::unique_ptr<SiteWire> wire = open_wire(
      wire_settings(roster, own, graph_of(roster), keys, listen_at(site, options.listen)));
  folder.adopt(adopted);
  if (config.get<std::string>("precision") == "double")
    return Join<double>(options, config, adopted, own, folder, *wire)();
  return Join<float>(options, config, adopted, own, folder, *wire)();
}

}  // namespace ticopd
