#include <fmt/format.h>

#include "apps/commands.hpp"
#include "apps/mpirun.hpp"
#include "apps/mpirun_process.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

struct LaunchFlags {
  Placement placement;
  std::string mpirun;
  bool show = false;
};

// The command line that every rank will run. It is parsed here first, so that a mistake is reported
// once and not by every rank.
class RankCommand {
 public:
  explicit RankCommand(Words words) : words_(std::move(words)) {
    if (words_.empty())
      throw UsageError("launch: nothing to run; type: ticopd launch -n 4 -- run FILE.toml");
    if (words_[0] != "run")
      throw UsageError(
          fmt::format("launch: {}: cannot be run over several ranks; allowed: run", words_[0]));
    app_.name("ticopd");
    add_run(app_, unused_);
    add_plugin_option(*app_.get_subcommand("run"));
  }

  // Returns false if --help was given; the help is then printed.
  bool parse() {
    try {
      app_.parse(Words(words_.rbegin(), words_.rend()));  // CLI11 wants them reversed
    } catch (const CLI::ParseError& e) {
      if (e.get_exit_code() != 0)
        throw UsageError(fmt::format("launch: run: {}; see ticopd run --help", e.what()));
      app_.exit(e);
      return false;
    }
    if (given("--resume") && !given("--out"))
      throw UsageError("--resume needs --out DIR, the folder of the run to resume");
    return true;
  }

  std::string file() const { return run().get_option("FILE")->as<std::string>(); }
  Words overrides() const {
    return given("--set") ? run().get_option("--set")->as<Words>() : Words();
  }
  bool given(const char* option) const { return run().count(option) > 0; }
  int threads() const { return given("--threads") ? run().get_option("--threads")->as<int>() : 0; }
  void add(const Words& more) { words_.insert(words_.end(), more.begin(), more.end()); }
  const Words& words() const { return words_; }

 private:
  const CLI::App& run() const { return *app_.get_subcommand("run"); }

  CLI::App app_;
  Action unused_;
  Words words_;
};

// The command that resumes the run after an interruption.
std::string again(const LaunchFlags& flags, const RankCommand& command) {
  Words words{"ticopd", "launch", "-n", std::to_string(flags.placement.ranks)};
  if (!flags.placement.hostfile.empty())
    words.insert(words.end(), {"--hostfile", flags.placement.hostfile});
  if (!flags.mpirun.empty()) words.insert(words.end(), {"--mpirun", flags.mpirun});
  words.push_back("--");
  words.insert(words.end(), command.words().begin(), command.words().end());
  if (!command.given("--resume")) words.push_back("--resume");
  if (command.given("--out")) return quoted(words);
  return quoted(words) + " --out DIR (DIR: the folder that this run created)";
}

// Before any process starts: fifty of them would all read the data to find out that there are four
// agents. A config that is no plain file, or lies on another machine only, is left to the ranks.
void refuse_too_many(int ranks, const RankCommand& command) {
  std::error_code error;
  if (!fs::is_regular_file(command.file(), error)) return;
  const int agents = configured_agents(Config::read(command.file(), command.overrides()));
  if (ranks > agents)
    throw ConfigError(
        fmt::format("launch -n {}: allowed is 1 to {}, the number of agents", ranks, agents));
}

int launch(LaunchFlags flags, const Words& remaining) {
  RankCommand command(remaining);
  const Words plugins = plugin_words();  // given to launch itself: the ranks need them too
  if (!command.parse()) return 0;
  command.add(plugins);
  load_given_plugins();
  Placement& placement = flags.placement;
  if (placement.ranks == 0)
    throw UsageError("launch needs -n K, the number of ranks: ticopd launch -n 4 -- run FILE.toml");
  if (placement.threads > 0) {
    if (command.given("--threads"))
      throw UsageError("--threads: given to both launch and run; once is enough");
    command.add({"--threads", std::to_string(placement.threads)});
  } else {
    // mpirun needs the number to bind the ranks to processors.
    placement.threads = command.threads();
  }
  if (!placement.hostfile.empty() && !fs::exists(placement.hostfile))
    throw UsageError(fmt::format("--hostfile {}: no such file", placement.hostfile));

  refuse_too_many(placement.ranks, command);

  const ScratchFolder scratch = ScratchFolder::anywhere();
  const Mpirun mpirun = find_mpirun(flags.mpirun);
  Words words = mpirun_words(mpirun, placement);
  // The ranks run this same program, whatever the PATH of mpirun is.
  words.push_back(fs::read_symlink("/proc/self/exe").string());
  words.insert(words.end(), command.words().begin(), command.words().end());
  if (flags.show) {
    show("{}\n", quoted(words));
    return 0;
  }
  const Observed seen =
      run_mpirun(words, scratch.path() / "notes", may_be_elsewhere(placement), stop_requested());
  const Ending ending = meaning(mpirun, seen);
  if (ending.code == 75)
    throw Interrupted(fmt::format("{}; go on with: {}", ending.why, again(flags, command)));
  // Our line is not enough if no rank could say what is wrong.
  if (ending.code == UnavailableError("").exit_code()) tell("{}", seen.message);
  if (!ending.why.empty()) throw Error(ending.code, ending.why);
  return ending.code;
}

}  // namespace

void add_launch(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "launch", "Run one experiment over several MPI ranks: launch -n K -- run FILE ...");
  auto flags = std::make_shared<LaunchFlags>();
  command->add_option("-n", flags->placement.ranks, "Ranks, from 1 to the number of agents")
      ->type_name("K")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--hostfile", flags->placement.hostfile, "The machines, in mpirun's format")
      ->type_name("FILE");
  command
      ->add_option("--mpirun", flags->mpirun,
                   "mpirun to use; default: the one of the MPI this program was built with")
      ->type_name("PROGRAM");
  command
      ->add_option("--threads", flags->placement.threads,
                   "Threads per rank; default: an equal share of the processors")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--show", flags->show, "Print the mpirun command line and do not run it");
  auto words = std::make_shared<Words>();  // everything after --
  command->add_option("COMMAND", *words, "After --: run FILE and options of run")->type_name("");
  command->allow_extras();  // our message in the callback is better than CLI11's
  command->footer(
      "Examples:\n"
      "  ticopd launch -n 4 -- run experiments/mnist_ring10.toml --out runs/four\n"
      "  ticopd launch -n 4 -- run experiments/mnist_ring10.toml --out runs/four --resume\n"
      "  ticopd launch -n 10 --threads 8 --hostfile hosts -- run experiments/mnist_ring10.toml\n"
      "Ctrl-C or SIGTERM: the ranks finish the round and save; a second signal ends them.\n"
      "Exit codes: those of run; 75 also if a rank or its machine was lost (--resume continues),\n"
      "  69 if mpirun could not start the ranks, 70 if a rank crashed");
  command->callback([=, &action] {
    for (const std::string& word : command->remaining())
      if (word != "--")
        throw UsageError(
            fmt::format("launch: {}: no such option; allowed: -n, --hostfile, --mpirun, --plugin, "
                        "--threads, --show; "
                        "options of run come after --: ticopd launch -n 4 -- run FILE.toml {}",
                        word, word));
    action = [=] { return launch(*flags, *words); };
  });
}

}  // namespace ticopd::app
