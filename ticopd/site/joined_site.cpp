#include "ticopd/site/joined_site.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/epoch.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/experiment/summary.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/run/checkpoint_notes.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/site/connections.hpp"
#include "ticopd/site/disk_store.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/own_data.hpp"
#include "ticopd/site/site.hpp"
#include "ticopd/site/site_folder.hpp"
#include "ticopd/site/site_metrics.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One site in one epoch, from its folder to the end of the run, or until a new roster ends it.
template <class T>
class JoinedSite {
 public:
  JoinedSite(const JoinOptions& options, const Config& config, AdoptedRoster adopted, int own,
             const KeyPair& keys, SiteFolder& folder, Connections& wire)
      : options_(options),
        config_(config),
        adopted_(std::move(adopted)),
        own_(own),
        keys_(keys),
        folder_(folder),
        name_(roster_.sites[static_cast<std::size_t>(own)].name),
        files_(folder.path(), site_columns()),
        store_(folder.path()),
        wire_(wire),
        prepared_(prepare<T>(config, prepare_options())) {
    begin_epoch(prepared_, config, {roster_.epoch, roster_.schedules_after});
    const Setup<T>& s = prepared_.setup;
    const std::vector<int> blocks = roster_.blocks();
    inputs_ =
        hosted_inputs(s, Placement(s.graph, static_cast<int>(blocks.size()), own, {}, blocks));
  }

  // The summary of the run; empty: it was superseded, and `next` is the roster to follow.
  std::optional<json> operator()() {
    site_ = std::make_unique<Site<T>>(prepared_.algorithm, prepared_.setup,
                                      World{clock_, wire_, store_}, site_options());
    if (const std::optional<json> before = files_.read_summary()) {
      const auto epoch = before->value("site", json::object()).value("epoch", 1u);
      if (epoch == roster_.epoch)
        refuse_other_inputs(*before);
      else
        keep_history(epoch);
    }
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
    if (end == SiteEnd::superseded) {
      write("interrupted",
            fmt::format("version {} of the roster begins another epoch", next_->roster.version));
      return std::nullopt;
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

  const AdoptedRoster& next() const { return *next_; }

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
    o.sites = names_of(adopted_, own_);
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
    o.on_roster = [this](std::span<const std::byte> bytes) { return hear(bytes); };
    o.on_parting = [this] { tell("parting", {}, 0, false); };
    o.on_trouble = [this](const std::string& what) { warn("no checkpoint: " + what); };
    return o;
  }

  // A neighbour has a roster with a higher version. It counts if it is good in every way.
  std::optional<SiteNames> hear(std::span<const std::byte> bytes) {
    const std::uint64_t hash = hash_row(bytes);
    if (hash == refused_) return std::nullopt;
    try {
      AdoptedRoster heard = folder_.read(bytes);
      check_successor(roster_, heard.roster);
      folder_.adopt(heard);
      if (options_.say)
        options_.say(fmt::format("{}: version {} of the roster came from a neighbour, epoch {}",
                                 name_, heard.roster.version, heard.roster.epoch));
      const bool goes_on = heard.roster.epoch == roster_.epoch;
      SiteNames names = names_of(heard, own_);
      if (!goes_on) {
        next_ = std::move(heard);
      } else {
        adopted_ = std::move(heard);
        check_own_key(roster_, own_, keys_, options_.key);
        wire_.open(wire_settings(roster_, own_, keys_, options_.listen));
      }
      return names;
    } catch (const UnavailableError&) {
      throw;
    } catch (const DiskError& e) {  // it will come again
      warn(e.what());
    } catch (const ReplacedKey&) {
      throw;
    } catch (const Error& e) {
      refused_ = hash;
      warn(fmt::format("a roster that a neighbour handed on is refused: {}", e.what()));
    }
    return std::nullopt;
  }

  // What the epoch before has shown. The next one writes its own.
  void keep_history(std::uint32_t epoch) {
    for (const char* file : {"metrics.csv", "run.json"}) {
      const fs::path from = files_.path() / file;
      if (!fs::exists(from)) continue;
      const std::string to =
          fmt::format("{}.epoch-{}{}", from.stem().string(), epoch, from.extension().string());
      try_to_write([&] { write_atomically(files_.path() / to, read_bytes(from)); });
    }
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
  void refuse_other_inputs(const json& before) const {
    if (const std::string difference =
            difference_of_inputs(inputs_, before.value("inputs", json()));
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
      const std::string& difference = site_->transport().difference(static_cast<int>(i));
      if (std::string& told = differences_[i]; told != difference) {
        told = difference;
        if (!difference.empty()) warn(difference);
      }
      peers.push_back({{"name", roster_.sites[i].name},
                       {"connected", s.connected()},
                       {"difference", difference},
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
                {"dropped_messages", counts.dropped + site_->transport().dropped()},
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
    j["site"] = {
        {"name", name_},
        {"agents", site.agents},
        {"version", roster_.version},
        {"epoch", roster_.epoch},
        {"schedules_after", roster_.schedules_after},
        {"network", fmt::format("{:016x}", network_number(roster_, adopted_.operator_key))},
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

  // The models of this site's agents, and where they began, if that was not where all did.
  void write_final() {
    write_rows("final.npy", site_->x());
    if (roster_.epoch > 1) write_rows("start.npy", site_->start());
  }
  void write_rows(const char* file, const Field<T>& x) {
    const std::size_t shape[] = {x.rows(), x.cols()};
    std::string bytes = npy_head<T>(shape);
    for (std::size_t row = 0; row < x.rows(); ++row) {
      const std::span<const T> values = x.row(row);
      bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    write_atomically(files_.path() / file, bytes);
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
  AdoptedRoster adopted_;
  const Roster& roster_ = adopted_.roster;
  int own_;
  const KeyPair& keys_;
  SiteFolder& folder_;
  std::string name_;
  RunFolder files_;
  MachineClock clock_;
  DiskStore store_;
  Connections& wire_;
  Prepared<T> prepared_;
  json inputs_;
  std::vector<std::string> lines_;
  double give_up_s_ = config_.get<double>("network.give_up_s");
  double told_at_ = 0;
  bool disk_fails_ = false;
  std::optional<AdoptedRoster> next_;               // of another epoch
  std::uint64_t refused_ = 0;                       // the hash of the last roster that was no good
  std::map<std::size_t, std::string> differences_;  // that were told, by site
  std::unique_ptr<Site<T>> site_;
};

// The data are read before the folder is written: a missing file leaves nothing behind.
template <class T>
EpochEnd run_epoch_as(const JoinOptions& options, const Config& config,
                      const AdoptedRoster& adopted, int own, const KeyPair& keys,
                      SiteFolder& folder, Connections& wire) {
  JoinedSite<T> site(options, config, adopted, own, keys, folder, wire);
  folder.adopt(adopted);
  EpochEnd epoch{site(), {}};
  if (!epoch.summary) epoch.next = site.next();
  return epoch;
}

}  // namespace

void check_own_key(const Roster& roster, int own, const KeyPair& keys,
                   const std::filesystem::path& key_file) {
  const RosterSite& site = roster.sites[static_cast<std::size_t>(own)];
  if (keys.public_key != site.key)
    throw ReplacedKey(
        fmt::format("{}: is not the key that version {} of the roster has for site {}",
                    key_file.string(), roster.version, site.name));
}

EpochEnd run_epoch(const JoinOptions& options, const AdoptedRoster& adopted, int own,
                   const KeyPair& keys, SiteFolder& folder, Connections& wire) {
  const Config config = with_own_data(adopted.roster.config, options.data, options.test);
  wire.open(wire_settings(adopted.roster, own, keys, options.listen));
  return config.get<std::string>("precision") == "double"
             ? run_epoch_as<double>(options, config, adopted, own, keys, folder, wire)
             : run_epoch_as<float>(options, config, adopted, own, keys, folder, wire);
}

}  // namespace ticopd
