#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/progress.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/experiment/experiment.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd::app {

// Runs the command that the user typed and returns the exit code.
using Action = std::function<int()>;

// Each function adds one command to the app. CLI11 calls back for the command that was typed, and
// that callback sets `action`.
void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_watch(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_theory(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_launch(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_network(CLI::App& app, Action& action);

// --plugin, which every command takes. Nothing else loads code: no key of a config, no variable.
void add_plugin_option(CLI::App& command);
void load_given_plugins();  // those given so far that are not loaded yet; throws as load_plugin
std::vector<std::string>
plugin_words();  // --plugin FILE ..., for a command line of another process

// Set by the first Ctrl-C, SIGTERM, SIGHUP or SIGUSR1. A second signal has its default effect and
// ends the program (a second SIGUSR1 changes nothing).
const std::atomic<bool>& stop_requested();

// Prints `what` to stderr unless it is empty, and returns `code`.
int complain(int code, const std::string& what);

// The exit code and message for an exception. `what` is empty if nobody would read it, because the
// reader of our output has closed the pipe.
struct Failure {
  int code = 0;
  std::string what;
};
Failure failure_of(const std::exception& e);

// Runs `body` in every process of an MPI run. If it fails in one process, all of them end with the
// same exit code, and the message is printed once.
int together(Processes& ranks, const std::function<int()>& body);
// Ends this process alone. Used when the processes can no longer agree on a common end.
[[noreturn]] void leave_at_once(const std::string& what);

// Validators with readable messages. CLI11's own positive-number check accepts nan and prints 300
// digits.
CLI::Validator number_above_zero();
CLI::Validator one_of(std::vector<std::string_view> words);  // suggests the nearest

// Options that several commands share.
struct RunFlags {
  std::vector<std::string> set;
  std::filesystem::path out;
  int threads = 0;
  std::string device = "cpu";
  bool resume = false;
  bool offline = false;
  bool quiet = false;
  bool json = false;
  bool profile = false;
};
// The option takes one value each time it appears. By default CLI11 would also take the next
// argument, the FILE, as a value.
inline void repeatable(CLI::Option* option, const std::string& value) {
  option->type_name(value)->expected(1)->take_all()->allow_extra_args(false);
}
void add_run_flags(CLI::App& command, RunFlags& flags, const std::string& folder = "NAME-TIME");
RunOptions watched_by(Progress& progress, const RunFlags& flags);  // also stops on Ctrl-C
using Words = std::vector<std::string>;
Words words_to_repeat(const RunFlags& flags);  // options a resumed run needs again, without --out
std::string quoted(const Words& words);        // a line to copy into a shell
Device device_of(const RunFlags& flags);       // UnavailableError if there is none

}  // namespace ticopd::app
