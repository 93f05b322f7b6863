#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/digest.hpp"
#include "ticopd/site/network.hpp"
#include "ticopd/site/site_metrics.hpp"
#include "ticopd/system/descriptor.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// What the folder of a finished site holds.
struct Part {
  fs::path folder;
  json summary;
  std::vector<int> agents;
  std::vector<std::string> lines;  // of metrics.csv, without its header
  const json& site() const { return summary["site"]; }
  std::string name() const { return site()["name"].get<std::string>(); }
};

// Throws a std::exception unless run.json has all that is taken from it below.
void check_site(const json& summary) {
  const auto must = [](bool fact) {
    if (!fact) throw FormatError("a value");
  };
  const json& site = summary.at("site");
  for (const char* key : {"name", "network"}) must(site.at(key).is_string());
  must(site.at("roster_config").at("precision").is_string());
  for (const char* key : {"epoch", "schedules_after"})  // an earlier version wrote none
    must(!site.contains(key) || (site[key].is_number_unsigned() && site[key] <= 0xffffffffu));
  const json& agents = site.at("agents");
  must(agents.is_array() && !agents.empty());
  for (std::size_t i = 0; i < agents.size(); ++i)  // a block
    must(agents[i].is_number_unsigned() && agents[i] <= 1'000'000'000u &&
         agents[i].get<std::size_t>() == agents[0].get<std::size_t>() + i);
  must(site.at("logged").is_array() && !site["logged"].empty());
  for (const json& logged : site["logged"]) {
    must(logged.at(0).is_number_unsigned() && logged[0] <= 0xffffffffu && logged.at(1).is_array());
    for (const json& hash : logged[1]) must(hash.is_string());
  }
  for (const char* list : {"agents", "links"}) must(summary.at("ledger").at(list).is_array());
  for (const json& agent : summary["ledger"]["agents"])
    must(agent.at("payload_bytes").is_number_unsigned());
  must(summary.at("inputs").at("agents").is_array());
  must(summary.at("seconds").at("total").is_number());
  must(summary.at("agents").is_number_unsigned() && summary["agents"] <= 1'000'000'000u);
  must(summary.at("iterations").is_number_unsigned());
}

Part read_part(const fs::path& folder) {
  Part part{folder, RunFolder::require_summary(folder), {}, {}};
  try {
    check_site(part.summary);
  } catch (const std::exception&) {
    throw FormatError(fmt::format("{}: is not the folder of a site", folder.string()));
  }
  part.agents = part.site()["agents"].get<std::vector<int>>();
  if (part.summary["status"] != "finished")
    throw FormatError(fmt::format(
        "{}: site {} is {} after round {}, not finished; start it again with `ticopd network join`",
        folder.string(), part.name(), part.summary["status"].get<std::string>(),
        part.summary.value("iterations", 0)));
  const std::string text = read_bytes(folder / "metrics.csv");
  std::string_view left = text;
  if (take_line(left) != csv_header(site_columns()))
    throw FormatError(fmt::format("{}: is not of a site", (folder / "metrics.csv").string()));
  while (!left.empty()) part.lines.emplace_back(take_line(left));
  return part;
}

std::vector<Part> read_parts(const std::vector<fs::path>& folders) {
  std::vector<Part> parts;
  for (const fs::path& folder : folders) parts.push_back(read_part(folder));
  if (parts.empty()) throw UsageError("collect: name the folders of all sites");
  std::ranges::sort(parts, {}, [](const Part& p) { return p.agents.front(); });
  int next = 0;
  for (const Part& p : parts) {
    if (p.site()["network"] != parts.front().site()["network"])
      throw FormatError(fmt::format("{}: is of another run than {}", p.folder.string(),
                                    parts.front().folder.string()));
    if (p.agents.front() < next)
      throw FormatError(
          fmt::format("{}: another folder has agent {}, too", p.folder.string(), p.agents.front()));
    if (p.agents.front() > next)
      throw FormatError(
          fmt::format("the site with agent {} is missing: name its folder, too", next));
    next = p.agents.back() + 1;
  }
  if (const int all = parts.front().summary.value("agents", 0); next != all)
    throw FormatError(fmt::format("the site with agent {} is missing: name its folder, too", next));
  return parts;
}

std::string digest_of(const std::vector<Part>& parts) {
  const json& rounds = parts.front().site()["logged"];
  Digest digest;
  for (std::size_t l = 0; l < rounds.size(); ++l) {
    std::vector<RowHash> rows;
    for (const Part& p : parts) {
      const json& logged = p.site()["logged"];
      if (logged.size() != rounds.size() || logged[l].at(0) != rounds[l].at(0) ||
          logged[l].at(1).size() != p.agents.size())
        throw FormatError(fmt::format("{}: logged other rounds than {}", p.folder.string(),
                                      parts.front().folder.string()));
      for (const json& hash : logged[l].at(1)) rows.push_back(hash_of_hex(hash.get<std::string>()));
    }
    digest.add(rounds[l].at(0).get<std::uint32_t>(), rows);
  }
  return digest.hex();
}

json ledger_of(const std::vector<Part>& parts) {
  json all{{"payload_bytes", 0}, {"agents", json::array()}, {"links", json::array()}};
  std::uint64_t bytes = 0;
  for (const Part& p : parts) {
    const json& own = p.summary["ledger"];
    for (const char* list : {"agents", "links"})
      for (const json& entry : own.at(list)) all[list].push_back(entry);
    for (const json& agent : own.at("agents"))
      bytes += agent.at("payload_bytes").get<std::uint64_t>();
  }
  all["payload_bytes"] = bytes;
  return all;
}

// The rows that all sites have in their files of this name, as one file of that name.
template <class T>
NpyArray<T> write_rows(const std::vector<Part>& parts, const fs::path& out, const char* name) {
  NpyArray<T> all;
  std::vector<T> x;
  std::size_t rows = 0, cols = 0;
  for (const Part& p : parts) {
    const NpyArray<T> own = read_npy<T>(p.folder / name);
    if (own.shape.size() != 2 || own.shape[0] != p.agents.size() ||
        (rows != 0 && own.shape[1] != cols))
      throw FormatError(fmt::format("{}: is not the models of {} agents",
                                    (p.folder / name).string(), p.agents.size()));
    cols = own.shape[1];
    rows += own.shape[0];
    x.insert(x.end(), own.data.begin(), own.data.end());
  }
  const std::size_t shape[] = {rows, cols};
  std::string bytes = npy_head<T>(shape);
  bytes.append(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(T));
  write_atomically(out / name, bytes);
  all.shape = {rows, cols};
  all.data.assign(x.begin(), x.end());
  return all;
}

// The models of all agents, and how far apart they are: sum_i ||x_i - xbar||^2.
template <class T>
double write_models(const std::vector<Part>& parts, const fs::path& out) {
  const NpyArray<T> all = write_rows<T>(parts, out, "final.npy");
  const std::size_t rows = all.shape[0], cols = all.shape[1];
  const auto& x = all.data;
  std::size_t agent = 0;
  for (const Part& p : parts)
    for (std::size_t row = 0; row < p.agents.size(); ++row, ++agent) {
      const std::span<const T> values(x.data() + agent * cols, cols);
      if (const json& last = p.site()["logged"].back().at(1);
          hex_of(row_hash(std::as_bytes(values))) != last.at(row))
        throw FormatError(
            fmt::format("{}: is damaged: agent {} has another model than at its last "
                        "logged round",
                        (p.folder / "final.npy").string(), p.agents[row]));
    }
  double apart = 0;
  for (std::size_t k = 0; k < cols; ++k) {
    double mean = 0;
    for (std::size_t row = 0; row < rows; ++row) mean += static_cast<double>(x[row * cols + k]);
    mean /= static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const double d = static_cast<double>(x[row * cols + k]) - mean;
      apart += d * d;
    }
  }
  return apart;
}

// One row of metrics.csv: what each site has measured alone, for all agents.
Metrics merged(const std::vector<Part>& parts, std::size_t line) {
  const MetricColumns columns = site_columns();
  Metrics m;
  const auto agents = static_cast<double>(parts.back().agents.back() + 1);
  for (const Part& p : parts) {
    const double share = static_cast<double>(p.agents.size()) / agents;
    if (line >= p.lines.size())
      throw FormatError(fmt::format("{}: has {} rows, expected more",
                                    (p.folder / "metrics.csv").string(), p.lines.size()));
    std::string_view left = p.lines[line];
    for (const MetricInfo& column : columns) {
      const std::string_view cell = take_cell(left);
      const bool is_round = column.column == "iteration";
      const auto value = parse_number<double>(cell);
      if (cell.empty() && !is_round) continue;
      if (!value || (is_round && !(*value >= 0 && *value <= 0xffffffffu)))
        throw FormatError(fmt::format("{}:{}: {} = {}: is no number that a site writes",
                                      (p.folder / "metrics.csv").string(), line + 2, column.column,
                                      printable(cell)));
      if (is_round) m.iteration = static_cast<std::uint32_t>(*value);
      if (column.column == "seconds") m.seconds = std::max(m.seconds, *value);
      if (column.column == "bits_paper") m.bits_paper += share * *value;
      if (column.column == "bits_payload") m.bits_payload += share * *value;
      if (column.column == "bits_link") m.bits_link += share * *value;
      if (column.column == "loss_local") m.loss_local = m.loss_local.value_or(0) + share * *value;
      if (column.column == "disagreement")
        m.disagreement = m.disagreement.value_or(0) + share * *value;
      if (column.column == "accuracy_min")
        m.accuracy_min = std::min(m.accuracy_min.value_or(1.0), *value);
      if (column.column == "surrogate_error")
        m.surrogate_error = m.surrogate_error.value_or(0) + *value;
    }
  }
  return m;
}

// True if a process has the folder of this site.
bool is_up(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd.get() >= 0 && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0;
}

// What status.json says, if it is as this program writes it.
json status_in(const fs::path& file) {
  json s = parse_json(read_bytes(file));
  const auto is = [](const json& value, const char* key, bool (json::*kind)() const noexcept) {
    return value.is_object() && value.contains(key) && (value[key].*kind)();
  };
  bool right = is(s, "name", &json::is_string) && is(s, "state", &json::is_string) &&
               is(s, "round", &json::is_number_unsigned) &&
               is(s, "iterations", &json::is_number_unsigned) && is(s, "peers", &json::is_array);
  if (right)
    for (const json& peer : s["peers"])
      right = right && is(peer, "connected", &json::is_boolean) &&
              is(peer, "sent_bytes", &json::is_number) &&
              is(peer, "received_bytes", &json::is_number);
  if (right && s.contains("waiting"))
    right =
        is(s["waiting"], "site", &json::is_string) && is(s["waiting"], "seconds", &json::is_number);
  if (!right) throw FormatError(fmt::format("{}: is damaged", file.string()));
  return s;
}

}  // namespace

json collect_network(const std::vector<fs::path>& folders, const fs::path& out) {
  const std::vector<Part> parts = read_parts(folders);
  json all = parts.front().summary;
  all["digest"] = digest_of(parts);
  all["ledger"] = ledger_of(parts);
  all["inputs"]["agents"] = json::array();
  all["sites"] = json::array();
  double seconds = 0;
  for (const Part& p : parts) {
    for (const json& agent : p.summary["inputs"]["agents"])
      all["inputs"]["agents"].push_back(agent);
    json site = p.site();
    for (const char* key : {"logged", "roster_config", "machine"}) site.erase(key);
    for (const char* key : {"version", "instruction_set", "kernel", "blas"})
      site["machine"][key] = p.summary.value(key, json());
    all["sites"].push_back(std::move(site));
    seconds = std::max(seconds, p.summary["seconds"]["total"].get<double>());
  }
  all["config"] = parts.front().site()["roster_config"];
  for (const char* key : {"site", "memory", "transport"}) all.erase(key);
  all["seconds"] = {{"total", seconds}};
  all["date"] = utc_now();
  const MetricColumns columns = site_columns();
  MetricColumns last = columns;  // at the end the models of all agents are here
  for (MetricInfo& column : last)
    if (column.column == "consensus")
      column.value = [](const Metrics& m) { return std::optional<double>(m.consensus); };
  RunFolder folder(out, columns);
  folder.claim(false);
  folder.create();
  const bool in_double = all["config"]["precision"] == "double";
  const double consensus =
      in_double ? write_models<double>(parts, out) : write_models<float>(parts, out);
  // A run of a later epoch can be made again from there alone.
  if (const std::uint32_t epoch = parts.front().site().value("epoch", 1u); epoch > 1) {
    all["epoch"] = {{"number", epoch},
                    {"schedules_after", parts.front().site().value("schedules_after", 0u)}};
    if (in_double)
      write_rows<double>(parts, out, "start.npy");
    else
      write_rows<float>(parts, out, "start.npy");
  }
  std::vector<std::string> lines;
  for (std::size_t line = 0; line < parts.front().lines.size(); ++line) {
    Metrics m = merged(parts, line);
    m.consensus = consensus;
    const bool at_the_end = m.iteration == all["iterations"];
    lines.push_back(to_csv(m, at_the_end ? last : columns));
  }
  folder.set_metrics(std::move(lines));
  folder.publish_metrics(true);
  folder.write_summary(all);
  return all;
}

json network_status(const std::vector<fs::path>& folders) {
  json all = json::array();
  for (const fs::path& folder : folders) {
    std::error_code error;
    // The folder of `network init` has the operator's key too, but follows no roster.
    if (!fs::exists(folder / "operator.pub", error) ||
        (!fs::exists(folder / "roster.signed", error) &&
         !fs::exists(folder / "status.json", error)))
      throw FormatError(fmt::format("{}: is not the folder of a site", folder.string()));
    json status{{"state", "starting"}};
    if (fs::exists(folder / "status.json", error)) status = status_in(folder / "status.json");
    status["folder"] = folder.string();
    status["up"] = is_up(folder);
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace ticopd
