#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "apps/commands.hpp"
#include "apps/rank_notes.hpp"
#include "ticopd/error.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/system/stopping.hpp"
#include "ticopd/transport/plugin.hpp"

namespace ticopd::app {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler stores to it");

extern "C" void on_signal(int signal) {
  stop.store(true);
  // Batch systems may send SIGUSR1 twice, and the system repeats SIGXCPU every second.
  if (signal != SIGUSR1 && signal != SIGXCPU) std::signal(signal, SIG_DFL);
}

// The message for a misspelt command or option, with the nearest word; empty if none is misspelt.
// CLI11 only says that a command is missing, and suggests nothing.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string given(argv[i], std::strcspn(argv[i], "="));
    if (given == "--") break;  // the words after it belong to the launched command
    const bool option = given.starts_with("--");
    std::vector<std::string> known;
    if (option)
      for (const CLI::Option* o : command->get_options())
        for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    else
      for (const CLI::App* c : command->get_subcommands({})) known.push_back(c->get_name());
    if (std::ranges::find(known, given) != known.end()) {
      const CLI::Option* taken = option ? command->get_option_no_throw(given) : nullptr;
      const bool value_follows = taken != nullptr && taken->get_expected_min() > 0;
      if (!option) command = command->get_subcommand(given);
      if (value_follows && given == argv[i]) ++i;
      continue;
    }
    if (!option && known.empty()) continue;  // a value
    const std::vector<std::string_view> words(known.begin(), known.end());
    const std::string_view near = nearest(given, words);
    return fmt::format("{}: no such {}; allowed: {}{}", given, option ? "option" : "command",
                       fmt::join(words, ", "),
                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
  }
  return {};
}

// Gives large buffers pages of their own, which return to the system as soon as they are freed.
// Otherwise the process would keep the memory used for reading the data during the whole run.
void give_large_buffers_back() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

// Flushes stdout while an error can still be reported. If exit() flushes it, an error goes unseen.
void flush_output() {
  const bool lost = std::ferror(stdout) != 0;
  const int error = std::fflush(stdout) != 0 ? errno : lost ? EIO : 0;
  if (error != 0) throw std::system_error(error, std::generic_category(), "standard output");
}

int run(int argc, char** argv) {
  give_large_buffers_back();
  CLI::App app(
      "Decentralized optimization with compressed messages: agents hold private data, talk only to "
      "neighbours, and agree on one model.");
  app.name("ticopd");
  app.set_version_flag("--version", std::string("ticopd ") + version);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  ticopd demo                                  watch ten agents train\n"
      "  ticopd run experiments/mnist_ring10.toml     run one experiment\n"
      "  ticopd compare experiments/paper_figure.toml run several, draw one figure\n"
      "  ticopd tune experiments/mnist_ring10.toml    find step sizes for an experiment\n"
      "  ticopd watch runs/first                      show a run on a page while it goes on\n"
      "  ticopd list algorithms                       list the algorithms\n"
      "Exit codes: 0 success, 64 usage, 65 bad data, 69 unavailable, 70 internal, 74 disk,\n"
      "  75 interrupted and saved (resume with --resume), 76 diverged, 78 config");
  Action action;
  add_run(app, action);
  add_compare(app, action);
  add_tune(app, action);
  add_report(app, action);
  add_watch(app, action);
  add_list(app, action);
  add_theory(app, action);
  add_verify(app, action);
  add_audit(app, action);
  add_launch(app, action);
  add_data(app, action);
  add_schema(app, action);
  add_simulate(app, action);
  add_network(app, action);
  add_demo(app, action);
  for (CLI::App* command : app.get_subcommands({})) add_plugin_option(*command);
  add_plugin_option(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0)
      if (const std::string unknown = unknown_word(app, argc, argv); !unknown.empty())
        throw UsageError(unknown);
    if (e.get_exit_code() == 0) {  // --help, --version
      app.exit(e);
      flush_output();
      return 0;
    }
    throw UsageError(fmt::format("{}; see --help", e.what()));
  }
  const CLI::App* command = app.get_subcommands().front();
  if (processes_started() > 1 && command->get_name() != "run")
    throw UsageError(
        fmt::format("{}: cannot run under mpirun, only `ticopd run` can; start ticopd {} without "
                    "mpirun",
                    command->get_name(), command->get_name()));
  // Ranks that differ in their plug-ins would wait for each other: run_one joins them first.
  if (processes_started() == 0) load_given_plugins();
  const int code = action();
  flush_output();
  return code;
}

// Several processes may fail alike before MPI connects them: only process 0 prints the message.
int complain_once(int code, const std::string& what) {
  return process_number() > 0 ? code : complain(code, what);
}

}  // namespace

Failure failure_of(const std::exception& e) {
  if (const auto* ours = dynamic_cast<const Error*>(&e)) return {ours->exit_code(), e.what()};
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
    return {70, "not enough memory for this experiment"};
  const auto* system = dynamic_cast<const std::system_error*>(&e);
  if (system != nullptr && std::ferror(stdout) != 0) {
    if (system->code().value() == EPIPE) return {74, {}};  // the reader closed the pipe
    return {74, fmt::format("standard output: cannot be written: {}", system->code().message())};
  }
  return {70, fmt::format("internal error, please report it: {}", e.what())};
}

int complain(int code, const std::string& what) {
  if (what.empty()) return code;
  const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  std::fputs(colour ? "\033[1;31mticopd:\033[0m " : "ticopd: ", stderr);
  tell("{}\n", what);
  return code;
}

const std::atomic<bool>& stop_requested() {
  return stop;
}

}  // namespace ticopd::app

int main(int argc, char** argv) {
  using namespace ticopd::app;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);              // mpirun forwards it to its processes
  if (std::signal(SIGHUP, SIG_IGN) != SIG_IGN)  // stays ignored under nohup
    std::signal(SIGHUP, on_signal);
  std::signal(SIGXCPU, on_signal);  // the soft limit of CPU time; the hard one kills
  std::signal(SIGPIPE, SIG_IGN);    // a closed pipe is then a write error
  std::signal(SIGXFSZ, SIG_IGN);    // and so is a file beyond its limit
  note_start();
  const ticopd::StopScope heard(&stop_requested());
  try {
    return note_end(run(argc, argv));
  } catch (const std::exception& e) {
    const Failure failure = failure_of(e);
    return note_end(complain_once(failure.code, failure.what));
  }
}
