#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "ticopd/error.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/system/file.hpp"

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
  for (const auto& [key, value] : here.items())
    if (before.value(key, json()) != value)
      return fmt::format("{} is {} here and was {} there: equal digests are not promised", key,
                         value.dump(), before.value(key, json()).dump());
  for (const Stretch& s : stretches)
    if (const std::string why = why_not_here(s.device); !why.empty())
      return stretches.size() == 1
                 ? why
                 : fmt::format("the run was made on {}; {}", names_of(stretches), why);
  return "";
}

template <class T>
std::string digest_again(const Config& config, RunOptions options,
                         const std::vector<Stretch>& stretches) {
  std::optional<ScratchFolder> handover;  // holds the state between two devices
  if (stretches.size() > 1) handover.emplace(fs::temp_directory_path());
  std::string digest;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    options.prepare.device = stretches[i].device == "cpu" ? Device::cpu : Device::cuda;
    Prepared<T> p = prepare<T>(config, options.prepare);
    const bool last = i + 1 == stretches.size();
    std::atomic<bool> stop{false};
    p.setup.watch.stop = &stop;
    p.setup.watch.on_log = options.on_log;
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
    digest = solution.digest;
  }
  return digest;
}

}  // namespace

Verdict verify_experiment(const fs::path& folder, const RunOptions& options) {
  const json before = RunFolder::require_summary(folder);
  const std::string file = (folder / "run.json").string();
  if (before["status"] != "finished")
    throw FormatError(fmt::format("{}: the run is {}, not finished: nothing to compare", file,
                                  before["status"].dump()));
  const std::vector<Stretch> stretches = stretches_of(before, file);
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
  verdict.digest = config.get<std::string>("precision") == "double"
                       ? digest_again<double>(config, options, stretches)
                       : digest_again<float>(config, options, stretches);
  verdict.same = before["digest"] == verdict.digest;
  if (!verdict.same)
    verdict.difference = fmt::format("digest is {} now and was {}", verdict.digest,
                                     before["digest"].get<std::string>());
  return verdict;
}

}  // namespace ticopd
