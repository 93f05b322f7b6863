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
#include "ticopd/transport/plugin.hpp"

namespace ticopd::app {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler stores to it");

extern "C" void on_signal(int signal) {
  stop.store(true);
  if (signal != SIGUSR1) std::signal(signal, SIG_DFL);  // batch systems may send that one twice
}

// CLI11 says that a command is missing where one is misspelt, and suggests no option.
std::string unknown_word(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string given(argv[i], std::strcspn(argv[i], "="));
    if (given == "--") break;  // the rest is another command's
    const bool option = given.starts_with("--");
    std::vector<std::string> known;
    if (option)
      for (const CLI::Option* o : command->get_options())
        for (const std::string& name : o->get_lnames()) known.push_back("--" + name);
    else
      for (const CLI::App* c : command->get_subcommands({})) known.push_back(c->get_name());
    if (std::ranges::find(known, given) != known.end()) {
      if (!option) command = command->get_subcommand(given);
      continue;
    }
    if (!option && known.empty()) continue;  // a value
    const std::vector<std::string_view> words(known.begin(), known.end());
    const std::string_view near = nearest(given, words);
    return fmt::format("{}: no such {}; there are {}{}", given, option ? "option" : "command",
                       fmt::join(words, ", "),
                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
  }
  return {};
}

// Large buffers get pages of their own, which go back to the system as soon as they are freed: what
// was needed to read the data would else stay with the process for the whole run.
void give_large_buffers_back() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

// Here, where a failure can still be told: what exit() flushes is lost without a word.
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
      "  ticopd demo                                  see it train ten agents\n"
      "  ticopd run experiments/mnist_ring10.toml     one experiment\n"
      "  ticopd compare experiments/paper_figure.toml several, in one picture\n"
      "  ticopd tune experiments/mnist_ring10.toml    step sizes for it\n"
      "  ticopd list algorithms                       what there is\n"
      "Exit codes: 0 fine, 64 usage, 65 bad data, 69 unavailable, 70 internal, 74 disk,\n"
      "  75 interrupted after saving (--resume goes on), 76 diverged, 78 config");
  Action action;
  add_run(app, action);
  add_compare(app, action);
  add_tune(app, action);
  add_report(app, action);
  add_list(app, action);
  add_theory(app, action);
  add_verify(app, action);
  add_audit(app, action);
  add_launch(app, action);
  add_data(app, action);
  add_schema(app, action);
  add_demo(app, action);
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
        fmt::format("{} under mpirun: only `ticopd run` is one program in several processes; start "
                    "{} by itself",
                    command->get_name(), command->get_name()));
  const int code = action();
  flush_output();
  return code;
}

// Of several processes that fail alike before they know each other, one speaks.
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
    if (system->code().value() == EPIPE) return {74, {}};  // the reader has seen enough
    return {74, fmt::format("standard output: cannot be written: {}", system->code().message())};
  }
  return {70, fmt::format("internal error, please report it: {}", e.what())};
}

int complain(int code, const std::string& what) {
  if (what.empty()) return code;
  const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  tell("{}ticopd:{} {}\n", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "", what);
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
  std::signal(SIGUSR1, on_signal);              // what mpirun passes on to the processes it started
  if (std::signal(SIGHUP, SIG_IGN) != SIG_IGN)  // a terminal that closes; nohup wants to go on
    std::signal(SIGHUP, on_signal);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error, not a death
  note_start();
  try {
    return note_end(run(argc, argv));
  } catch (const std::exception& e) {
    const Failure failure = failure_of(e);
    return note_end(complain_once(failure.code, failure.what));
  }
}
