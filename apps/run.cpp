#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "apps/rank_notes.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"
#include "ticopd/transport/collective.hpp"
#include "ticopd/transport/plugin.hpp"
#include "ticopd/transport/table.hpp"

namespace ticopd::app {

namespace fs = std::filesystem;
using nlohmann::json;

void add_run_flags(CLI::App& command, RunFlags& flags, const std::string& folder) {
  repeatable(command.add_option("--set", flags.set,
                                "Override a key of the config: --set graph.agents=20 (repeatable)"),
             "KEY=VALUE");
  command.add_option("--out", flags.out, "Folder for the results; default runs/" + folder)
      ->type_name("DIR");
  command
      .add_option("--threads", flags.threads, "Threads; default: every core this process may use")
      ->check(CLI::Range(1, 4096));
  command.add_option("--device", flags.device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command.add_flag("--resume", flags.resume, "Resume what --out holds");
  command.add_flag("--offline", flags.offline, "Never fetch data");
  command.add_flag("--quiet", flags.quiet, "Show no progress");
  command.add_flag("--json", flags.json, "Print the summary as JSON");
}

Device device_of(const RunFlags& flags) {
  if (flags.device == "cpu") return Device::cpu;
  cuda::require_device();
  return Device::cuda;
}

RunOptions watched_by(Progress& progress, const RunFlags& flags) {
  RunOptions options;
  options.prepare = {flags.threads, flags.offline,
                     [&](const std::string& text) { progress.say(text); }};
  options.prepare.device = device_of(flags);
  options.stop = &stop_requested();
  options.on_log = [&](const Metrics& m) { progress.logged(m); };
  options.on_round = [&](std::uint32_t round) { progress.round(round); };
  return options;
}

namespace {

void print_summary(const json& summary, const fs::path& folder,
                   const std::optional<Metrics>& last) {
  show("{} after {} rounds in {}: {}\n", summary["status"].get<std::string>(),
       summary["iterations"].get<std::uint32_t>(), duration(summary["seconds"]["total"]),
       folder.string());
  if (last) {
    const bool at_the_end = last->iteration == summary["iterations"];
    show("  {}", at_the_end ? "" : fmt::format("at round {}: ", last->iteration));
    if (last->loss_max) show("loss {:.4g}  ", *last->loss_max);
    if (last->loss_local) show("local loss {:.4g}  ", *last->loss_local);
    if (last->grad_norm2_max) show("squared gradient {:.3g}  ", *last->grad_norm2_max);
    show("consensus {:.3g}", last->consensus);
    if (last->accuracy_min) show("  worst accuracy {:.4f}", *last->accuracy_min);
    double payload = 0, paper = 0;  // from the ledger: the last round need not be logged
    const json& agents = summary["ledger"]["agents"];
    for (const json& a : agents) {
      payload += 8 * a["payload_bytes"].get<double>() / static_cast<double>(agents.size());
      paper += a["paper_bits"].get<double>() / static_cast<double>(agents.size());
    }
    show("\n  sent {} per agent ({} by the paper's count)\n", bits(payload), bits(paper));
  }
  show("  digest {}\n", summary["digest"].get<std::string>());
  if (summary.contains("share") && summary["share"].contains("note"))
    show("  {}\n", summary["share"]["note"].get<std::string>());
}

void print_profile(const json& summary) {
  show("\n  {:<10} {:>9} {:>7}\n", "time", "seconds", "share");
  double known = 0;
  for (const char* phase : {"gradient", "exchange", "update", "metrics"}) {
    known += summary["share"][phase].get<double>();
    show("  {:<10} {:>9.3f} {:>6.1f}%\n", phase, summary["seconds"][phase].get<double>(),
         100 * summary["share"][phase].get<double>());
  }
  show("  {:<10} {:>9} {:>6.1f}%   checkpoints, files, digest\n", "other", "", 100 * (1 - known));
  const auto megabytes = [](const json& bytes) { return bytes.get<double>() / 1e6; };
  const json& memory = summary["memory"];
  show("\n  {:<22} {:>8}\n  {:<22} {:>8.1f}\n", "memory", "MB", "state",
       megabytes(memory["state"]));
  for (const auto& [layout, bytes] : memory["features"].items())
    show("  {:<22} {:>8.1f}\n", layout, megabytes(bytes));
  show("  {:<22} {:>8.1f}   at its peak {:.1f}\n", "process", megabytes(memory["resident"]),
       megabytes(memory["peak"]));
  show("\n  kernel {}, {} threads, {}\n", summary["kernel"].get<std::string>(),
       summary["threads"].get<int>(), summary["blas"].get<std::string>());
}

std::string resume_command(const fs::path& file, const RunFlags& flags, const fs::path& out,
                           int ranks) {
  Words words{"ticopd"};
  if (ranks > 0) words.insert(words.end(), {"launch", "-n", std::to_string(ranks), "--"});
  words.insert(words.end(), {"run", file.string(), "--resume", "--out", out.string()});
  const Words more = words_to_repeat(flags);
  words.insert(words.end(), more.begin(), more.end());
  return quoted(words);
}

// All ranks use the folder of rank 0: its name holds the time, and the clocks of ranks differ.
fs::path agreed_folder(const fs::path& mine, Processes* ranks) {
  if (!ranks) return mine;
  const std::string name = ranks->rank() == 0 ? fs::absolute(mine).string() : std::string();
  const auto told =
      from_bytes<char>(broadcast(*ranks, channel_control, 0, to_bytes<char>(std::span(name))));
  return ranks->rank() == 0 ? mine : fs::path(std::string(told.begin(), told.end()));
}

const TransportInfo& chosen_transport(const Config& config) {
  return transport_table().at(config.get<std::string>("network.transport"));
}

int run_experiment_of(const fs::path& file, const Config& config, const RunFlags& flags,
                      Processes* ranks) {
  device_of(flags);  // throws first if the device is missing
  require_folder_to_resume(flags.resume, flags.out, "run");
  const TransportInfo& transport = chosen_transport(config);
  if (ranks && transport.ranks == TransportInfo::Ranks::threads)
    throw ConfigError(fmt::format(
        "network.transport = \"{}\": allowed under mpirun are none and {}: its processes are the "
        "ranks",
        transport.name, ranks->kind()));
  const bool speaks = !ranks || ranks->rank() == 0;
  const auto name = config.get<std::string>("name");
  Progress progress(name, config.get<std::uint32_t>("iterations"), flags.quiet || !speaks);
  RunOptions options = watched_by(progress, flags);
  if (!speaks) options.prepare.say = nullptr;
  std::optional<FolderClaim> made;
  if (flags.out.empty() && speaks) made.emplace(default_folder(name));
  options.out = agreed_folder(made ? made->path() : flags.out, ranks);
  options.resume = flags.resume;
  options.processes = ranks;
  // `ticopd launch` prints the resume command itself: it also knows the hosts and the mpirun.
  const bool launched = std::getenv(notes_variable) != nullptr;
  const std::string again = resume_command(file, flags, options.out, ranks ? ranks->size() : 0);
  json summary;
  try {
    summary = run_experiment(config, options);
  } catch (const Diverged&) {
    progress.clear();
    if (speaks && flags.json) show_json(RunFolder::require_summary(options.out));
    throw;
  } catch (const Interrupted& e) {
    progress.clear();
    if (!speaks || launched) throw;
    throw Interrupted(fmt::format("{}; go on from the last checkpoint with: {}", e.what(), again));
  }
  progress.clear();
  if (speaks && flags.json)
    show_json(summary);
  else if (speaks)
    print_summary(summary, options.out, progress.last());
  if (speaks && flags.profile && !flags.json && summary.contains("share")) print_profile(summary);
  if (summary["status"] == "interrupted")
    throw Interrupted(launched || !speaks ? "interrupted; all is saved"
                                          : "interrupted; all is saved, go on with: " + again);
  return 0;
}

int run_one(const fs::path& file, const RunFlags& flags) {
  std::optional<Config> config;  // read only once: the file may be a pipe
  std::exception_ptr trouble;
  try {
    load_given_plugins();
    config.emplace(Config::read(file, flags.set));
  } catch (const Error&) {
    if (processes_started() == 0) throw;
    trouble = std::current_exception();  // reported below, once for all ranks
  }
  // Under mpirun a config that names no processes, or cannot be read, still joins them.
  JoinProcesses join = config ? chosen_transport(*config).join : nullptr;
  if (processes_started() == 0 && !join) return run_experiment_of(file, *config, flags, nullptr);
  if (!join) join = join_processes;
  const auto ranks = join(config ? config->get<double>("network.deadline_s") : 60, leave_at_once);
  return together(*ranks, [&] {
    if (trouble) std::rethrow_exception(trouble);
    return run_experiment_of(file, *config, flags, ranks.get());
  });
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("run", "Run one experiment");
  auto file = std::make_shared<fs::path>();  // shared: CLI11 writes to it after this function
  auto flags = std::make_shared<RunFlags>();
  command->add_option("FILE", *file, "The experiment, a TOML file")->required();
  add_run_flags(*command, *flags);
  command->add_flag("--profile", flags->profile, "Print how time and memory were spent");
  command->footer(
      "Examples:\n"
      "  ticopd run experiments/mnist_ring10.toml\n"
      "  ticopd run experiments/mnist_ring10.toml --set codec.bits=4 --set iterations=500 --out "
      "runs/four\n"
      "  ticopd run experiments/mnist_ring10.toml --out runs/eight      (Ctrl-C saves; then add "
      "--resume)\n"
      "  mpirun -n 5 ticopd run experiments/mnist_ring10.toml           (the same run, on five "
      "processes)\n"
      "The keys and their defaults: docs/configuration.md");
  command->callback([=, &action] { action = [=] { return run_one(*file, *flags); }; });
}

}  // namespace ticopd::app
