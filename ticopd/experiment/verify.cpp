#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/epoch.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/run/inputs.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A range of rounds made on one device: those after `from_round`, until the next range.
struct Stretch {
  std::uint32_t from_round;
  std::string device;
};

std::vector<Stretch> stretches_of(const json& summary, const std::string& file) {
  // run.json has `devices` only if the run changed its device.
  if (!summary.contains("devices")) return {{0, summary.value("device", "cpu")}};
  std::vector<Stretch> all;
  try {
    for (const json& item : summary["devices"]) {
      all.push_back({item.at("from_round"), item.at("device")});
      if (all.size() > 1 ? all.back().from_round <= all[all.size() - 2].from_round
                         : all.back().from_round != 0)
        throw FormatError(file + ": devices: from_round must ascend from 0");
      if (all.back().from_round >= summary.value("iterations", 0u) && all.size() > 1)
        throw FormatError(
            fmt::format("{}: devices: no round is after round {}", file, all.back().from_round));
    }
  } catch (const json::exception&) {
    throw FormatError(file + ": devices is not a list of {\"from_round\", \"device\"}");
  }
  if (all.empty()) throw FormatError(file + ": devices is empty");
  return all;
}

// Why rounds of this device cannot be repeated here; empty if they can.
std::string why_not_here(const std::string& device) {
  if (device == "cpu") return "";
  try {
    cuda::require_device();
  } catch (const UnavailableError& e) {
    return e.what();
  }
  const std::string here = name_of(Device::cuda);
  if (here == device) return "";
  return fmt::format("device is \"{}\" here and was \"{}\" there: equal digests are not promised",
                     here, device);
}

std::string names_of(const std::vector<Stretch>& stretches) {
  std::string names;
  for (const Stretch& s : stretches)
    names += s.from_round == 0 ? s.device
                               : fmt::format(", from round {} on {}", s.from_round + 1, s.device);
  return names;
}

// The first difference of this machine that makes comparing digests meaningless; empty if there is
// none.
std::string difference_here(const json& before, const std::vector<Stretch>& stretches) {
  const json here = machine_json();
  // A run that was resumed elsewhere lists all machines it was made on; 0.1 had another list there.
  json machines = before.value("segments", json());
  if (!machines.is_array() || machines.empty() || !machines[0].contains("kernel"))
    machines = json::array();
  machines.push_back(before);
  for (const json& there : machines)
    for (const char* key : {"version", "instruction_set", "kernel", "blas"})
      if (const json then = there.is_object() ? there.value(key, json()) : json(),
          value = here.value(key, json());
          then != value)
        return fmt::format("{} is {} here and was {} there{}: equal digests are not promised", key,
                           value.dump(), then.dump(),
                           machines.size() == 2 ? "" : " in a part of the run");
  if (std::string plugins = difference_of_plugins(plugins_json(), before.value("plugins", json()));
      !plugins.empty())
    return plugins + ": equal digests are not promised";
  for (const Stretch& s : stretches)
    if (const std::string why = why_not_here(s.device); !why.empty())
      return stretches.size() == 1
                 ? why
                 : fmt::format("the run was made on {}; {}", names_of(stretches), why);
  return "";
}

// The results of a run that was made again.
struct Repetition {
  std::string inputs;  // what differs in the data, the graph or the start; empty: nothing
  std::string digest;
  std::vector<std::string> rows;  // of metrics.csv
  std::string final_rows;         // the bytes of final.npy
};

EpochInfo epoch_of(const json& summary, const std::string& file) {
  if (!summary.contains("epoch")) return {};
  try {
    return {summary["epoch"].at("number").get<std::uint32_t>(),
            summary["epoch"].at("schedules_after").get<std::uint32_t>()};
  } catch (const json::exception&) {
    throw FormatError(file + ": epoch is not {\"number\", \"schedules_after\"}");
  }
}

// A collected run of sites in a later epoch: its seed, and where each agent began.
template <class T>
void begin_as_sites_did(Prepared<T>& prepared, const Config& config, const fs::path& folder,
                        const EpochInfo& epoch) {
  begin_epoch(prepared, config, epoch);
  Setup<T>& setup = prepared.setup;
  const auto rows = std::make_shared<const NpyArray<T>>(read_npy<T>(folder / "start.npy"));
  const std::size_t cols = setup.objective->dimension();
  if (rows->shape != std::vector<std::size_t>{static_cast<std::size_t>(setup.graph.agents()), cols})
    throw FormatError(fmt::format("{}: is not the models of {} agents",
                                  (folder / "start.npy").string(), setup.graph.agents()));
  setup.start_of = [rows, cols](int agent, std::span<T> x) {
    std::copy_n(rows->data.begin() + static_cast<std::ptrdiff_t>(agent * cols), cols, x.begin());
  };
}

template <class T>
Repetition repeat(const Config& config, RunOptions options, const std::vector<Stretch>& stretches,
                  const fs::path& folder, const json& before) {
  const json inputs_before = before.value("inputs", json());
  const EpochInfo epoch = epoch_of(before, (folder / "run.json").string());
  std::optional<ScratchFolder> handover;  // holds the state between two devices
  if (stretches.size() > 1) handover.emplace(ScratchFolder::anywhere());
  const MetricColumns columns = configured_columns(config);
  Repetition again;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    options.prepare.device = stretches[i].device == "cpu" ? Device::cpu : Device::cuda;
    Prepared<T> p = prepare<T>(config, options.prepare);
    if (i == 0) {
      Alone alone;
      again.inputs = difference_of_inputs(inputs_of(p.setup, alone), inputs_before);
      if (!again.inputs.empty()) return again;
    }
    if (epoch.number > 1) begin_as_sites_did(p, config, folder, epoch);
    const bool last = i + 1 == stretches.size();
    std::atomic<bool> stop{false};
    p.setup.watch.stop = &stop;
    p.setup.watch.on_log = [&](const Metrics& m) {
      again.rows.push_back(to_csv(m, columns));
      if (options.on_log) options.on_log(m);
    };
    p.setup.watch.on_round = [&](std::uint32_t round) {
      if (options.on_round) options.on_round(round);
      stop =
          (options.stop && options.stop->load()) || (!last && round == stretches[i + 1].from_round);
    };
    if (handover) {
      p.setup.saving.file = handover->path() / "state.safetensors";
      p.setup.saving.every = 0;
      p.setup.saving.every_s = 0;
    }
    p.setup.saving.resume = i > 0;
    const Solution<T> solution = solve(p.algorithm, p.setup);
    if (options.stop && options.stop->load() && !solution.finished)
      throw Interrupted("stopped before the digest was complete");
    if (!last && solution.rounds != stretches[i + 1].from_round)
      throw std::logic_error("verify: a range of rounds did not end where the next one begins");
    again.digest = solution.digest;
    const std::size_t shape[] = {solution.x.rows(), solution.x.cols()};
    again.final_rows = npy_head<T>(shape);
    again.final_rows.append(reinterpret_cast<const char*>(solution.x.data()),
                            solution.x.size() * sizeof(T));
  }
  return again;
}

// The first cell in which two rows of metrics.csv differ, but for clocks; empty if there is none.
std::string difference_of_rows(std::string_view now, std::string_view then,
                               const MetricColumns& columns) {
  for (const MetricInfo& column : columns) {
    const std::string_view a = take_cell(now), b = take_cell(then);
    if (a != b && column.better == Better::neither && column.column.starts_with("seconds"))
      continue;
    if (a != b) return fmt::format("{} is {} now and was {}", column.column, a, printable(b));
  }
  return now == then ? "" : "it has another number of cells";
}

std::string difference_of_metrics(const fs::path& file, const std::vector<std::string>& rows,
                                  const MetricColumns& columns) {
  const std::string text = read_file(file);
  std::string_view left = text;
  const auto differs = [&](std::size_t line, const std::string& what) {
    return fmt::format("{}:{}: {}", file.string(), line, what);
  };
  if (take_line(left) != csv_header(columns)) return differs(1, "is not our header");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (left.empty()) return differs(i + 2, "the row of a logged round is missing");
    if (std::string what = difference_of_rows(rows[i], take_line(left), columns); !what.empty())
      return differs(i + 2, what);
  }
  return left.empty() ? "" : differs(rows.size() + 2, "the run logs no such row");
}

// Names what differs between the folder and the run that was made again; empty if nothing does.
std::string difference_of_results(const fs::path& folder, const json& before,
                                  const Repetition& again, const MetricColumns& columns) {
  if (!again.inputs.empty()) return "another experiment: " + again.inputs;
  if (before["digest"] != again.digest)
    return fmt::format("digest is {} now and was {}", again.digest,
                       before["digest"].get<std::string>());
  const fs::path rows = folder / "final.npy";
  if (!fs::exists(rows)) return fmt::format("{}: is missing", rows.string());
  if (read_bytes(rows) != again.final_rows)
    return fmt::format("{}: holds other models than the run ends with", rows.string());
  if (before.contains("sites")) return "";  // sites measure what they know alone
  return difference_of_metrics(folder / "metrics.csv", again.rows, columns);
}

}  // namespace

Verdict verify_experiment(const fs::path& folder, const RunOptions& options) {
  const json before = RunFolder::require_finished(folder);
  const std::vector<Stretch> stretches = stretches_of(before, (folder / "run.json").string());
  Verdict verdict;
  verdict.difference = difference_here(before, stretches);
  if (!verdict.difference.empty()) {
    verdict.comparable = verdict.same = false;
    return verdict;
  }
  json tree = before["config"];
  // The digest does not depend on the number of ranks. Use one rank: a GPU run has one, and only
  // then can on_round stop the run after a given round.
  if (stretches.size() > 1) tree["network"]["transport"] = "none";
  const Config config = Config::resolved(tree, before["config_folder"].get<std::string>());
  const Repetition again = config.get<std::string>("precision") == "double"
                               ? repeat<double>(config, options, stretches, folder, before)
                               : repeat<float>(config, options, stretches, folder, before);
  verdict.digest = again.digest;
  verdict.difference = difference_of_results(folder, before, again, configured_columns(config));
  verdict.same = verdict.difference.empty();
  return verdict;
}

}  // namespace ticopd
