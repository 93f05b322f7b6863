#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/studies/simulation.hpp"

namespace ticopd::app {
namespace {

struct Flags {
  std::filesystem::path file;
  RunFlags run;
  std::string seeds = "1..1000", faults = "all";
  std::uint64_t replay = 0;
  int sites = 0;
};

// "7" or "1..1000".
std::pair<std::uint64_t, std::uint64_t> parse_seed_range(const std::string& text) {
  const std::size_t dots = text.find("..");
  const auto first = parse_number<std::uint64_t>(text.substr(0, dots));
  const auto last = dots == std::string::npos ? first
                                              : parse_number<std::uint64_t>(text.substr(dots + 2));
  if (!first || !last || *first > *last)
    throw UsageError(fmt::format("--seeds {}: allowed is a seed or a range, as 1..1000", text));
  return {*first, *last};
}

void print(const Simulated& all, std::uint64_t seeds) {
  show("{} seeds over {} sites: {} ended with the digest of the undisturbed run, {}\n", seeds,
       all.sites, all.same, all.digest);
  if (all.refused > 0) show("  {} refused to go on, each for the right reason\n", all.refused);
  show("  {} processes killed, {} lost power; {} of {} messages lost; {} new rosters; {:.0f} s of "
       "virtual time\n",
       all.kills, all.power_losses, all.lost, all.messages, all.rosters, all.seconds);
  for (const auto& [seed, what] : all.violations) tell("seed {}: {}\n", seed, what);
}

int run(const Flags& flags) {
  const Config config = Config::read(flags.file, flags.run.set);
  SimulationOptions options;
  std::tie(options.first, options.last) = parse_seed_range(flags.seeds);
  if (flags.replay > 0) options.first = options.last = flags.replay;
  options.faults = Faults::parse(flags.faults);
  options.sites = flags.sites;
  const std::uint64_t seeds = options.last - options.first + 1;
  Progress progress("simulate", static_cast<std::uint32_t>(std::min<std::uint64_t>(seeds, 1u << 31)),
                    flags.run.quiet);
  options.prepare = {flags.run.threads, flags.run.offline,
                     [&](const std::string& text) { progress.say(text); }};
  options.stop = &stop_requested();
  options.on_progress = [&](std::uint64_t played) {
    progress.round(static_cast<std::uint32_t>(played));
  };
  const Simulated all = simulate(config, options);
  progress.clear();
  nlohmann::json violations = nlohmann::json::object();
  for (const auto& [seed, what] : all.violations) violations[std::to_string(seed)] = what;
  if (flags.run.json)
    show_json({{"seeds", seeds},
               {"sites", all.sites},
               {"digest", all.digest},
               {"same", all.same},
               {"refused", all.refused},
               {"violated", all.violated},
               {"violations", violations},
               {"kills", all.kills},
               {"power_losses", all.power_losses},
               {"messages", all.messages},
               {"rosters", all.rosters},
               {"lost", all.lost},
               {"trace", fmt::format("{:016x}", all.trace)}});
  else
    print(all, seeds);
  if (all.violated > 0)
    return complain(70, fmt::format("{} seeds are violations, the first is {}; see it again with "
                                    "--replay {}",
                                    all.violated, all.violations.begin()->first,
                                    all.violations.begin()->first));
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "simulate", "Play an experiment over sites that fail, on a virtual network");
  auto flags = std::make_shared<Flags>();
  command->add_option("FILE", flags->file, "A TOML file; small problems play fast")->required();
  command->add_option("--seeds", flags->seeds, "The seeds to play: each draws other faults")
      ->type_name("A..B")
      ->capture_default_str();
  std::string kinds;
  for (const FaultKind& k : fault_kinds()) kinds += fmt::format("\n{}: {}", k.name, k.help);
  command->add_option("--faults", flags->faults, "all, none, or some of them:" + kinds)
      ->type_name("KIND,...")
      ->capture_default_str();
  command->add_option("--replay", flags->replay, "Play this seed alone")->type_name("SEED");
  command->add_option("--sites", flags->sites, "Sites that share the agents (default: one for each "
                                               "agent, 8 at most)");
  repeatable(command->add_option("--set", flags->run.set, "Override a key of the file"),
             "KEY=VALUE");
  command->add_option("--threads", flags->run.threads, "Seeds that are played at a time")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--offline", flags->run.offline, "Never fetch data");
  command->add_flag("--quiet", flags->run.quiet, "Show no progress");
  command->add_flag("--json", flags->run.json, "Print the result as JSON");
  command->footer(
      "Examples:\n"
      "  ticopd simulate experiments/sites.toml --seeds 1..1000\n"
      "  ticopd simulate experiments/sites.toml --faults kill,power --seeds 1..100\n"
      "  ticopd simulate experiments/sites.toml --replay 17\n"
      "Exit codes: 0 no violation, 70 a violation was found: its seed is printed");
  command->callback([=, &action] { action = [=] { return run(*flags); }; });
}

}  // namespace ticopd::app
