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

// What a command does when it was the one typed; returns the exit code.
using Action = std::function<int()>;

// Each adds its command to the app and sets `action` when it is chosen.
void add_run(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_schema(CLI::App& app, Action& action);
void add_theory(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_launch(CLI::App& app, Action& action);
void add_data(CLI::App& app, Action& action);
void add_demo(CLI::App& app, Action& action);

// Set by the first Ctrl-C, SIGTERM, SIGHUP or SIGUSR1; the second one ends the program as usual.
const std::atomic<bool>& stop_requested();

// The line that says what went wrong, if there is anything to say; returns the code.
int complain(int code, const std::string& what);

// What an exception means to whoever called: the exit code and a line, empty where nobody would
// read it.
struct Failure {
  int code = 0;
  std::string what;
};
Failure failure_of(const std::exception& e);

// A body that all processes of an MPI run execute: where it fails anywhere all end, with one code
// and one message.
int together(Processes& ranks, const std::function<int()>& body);
// The end where not even that can be done.
[[noreturn]] void leave_at_once(const std::string& what);

// What an option may be, in sentences. CLI11's own lets nan pass and prints 300 digits.
CLI::Validator number_above_zero();
CLI::Validator one_of(std::vector<std::string_view> words);  // names the nearest

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
// One value each time it is given: CLI11 would take what follows, the file, for another one.
inline void repeatable(CLI::Option* option, const std::string& value) {
  option->type_name(value)->expected(1)->take_all()->allow_extra_args(false);
}
void add_run_flags(CLI::App& command, RunFlags& flags, const std::string& folder = "NAME-TIME");
RunOptions watched_by(Progress& progress, const RunFlags& flags);  // stops on Ctrl-C, too
using Words = std::vector<std::string>;
Words words_to_repeat(const RunFlags& flags);  // what a run is resumed with, but for its folder
std::string quoted(const Words& words);        // for a shell: a line to be copied and run
Device device_of(const RunFlags& flags);       // UnavailableError, before any data is read

// runs/NAME-TIME, with a number behind it if that is taken; made at once, so that nobody else
// takes it.
FolderClaim default_folder(const std::string& name);
// --out, or the folder above where it is not given.
FolderClaim folder_for(const RunFlags& flags, const std::string& name);

}  // namespace ticopd::app
