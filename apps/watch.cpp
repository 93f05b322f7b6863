#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "apps/commands.hpp"
#include "ticopd/live/live_page.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/program.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

struct WatchFlags {
  std::vector<std::string> folders;
  int port = 0;
  bool no_browser = false;
};

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  return false;
}

// Starts the desktop's browser. It is given a file that leads to the page, since everybody on this
// machine can read the words of a command, and the token is among those of the URL.
void open_browser(const std::string& url, const fs::path& folder) {
  const fs::path opener = find_program("xdg-open");
  if (opener.empty()) return;
  const fs::path file = folder / "ticopd.html";
  write_atomically(file, fmt::format("<!doctype html><meta charset=\"utf-8\">"
                                     "<meta name=\"referrer\" content=\"no-referrer\">"
                                     "<meta http-equiv=\"refresh\" content=\"0; url={}\">",
                                     url));
  // A child of a child, which nobody has to wait for: some browsers stay in the foreground.
  if (const pid_t child = ::fork(); child == 0) {
    if (::fork() == 0) {
      ::setsid();
      if (std::freopen("/dev/null", "r+", stdin) == nullptr) ::_exit(127);
      ::dup2(STDIN_FILENO, STDOUT_FILENO);
      ::dup2(STDIN_FILENO, STDERR_FILENO);
      ::execl(opener.c_str(), opener.c_str(), file.c_str(), nullptr);
    }
    ::_exit(127);
  } else if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
}

int watch(const WatchFlags& flags) {
  LivePage page(flags.folders, flags.port);
  show("{}\n", page.url());
  show("Ctrl-C ends it; the runs go on.\n");
  std::fflush(stdout);
  std::optional<ScratchFolder> scratch;
  if (!flags.no_browser && has_display()) {
    scratch.emplace(ScratchFolder::anywhere());
    open_browser(page.url(), scratch->path());
  }
  if (page.serve(stop_requested())) return 0;
  // A client that does not read holds a thread: do not wait for it.
  scratch.reset();
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("watch", "Show runs on a page while they go on");
  auto flags = std::make_shared<WatchFlags>();
  command
      ->add_option("DIR", flags->folders,
                   "Folders of runs, comparisons and searches, begun or not; LABEL=DIR gives a run "
                   "another label")
      ->required();
  command->add_option("--port", flags->port, "Port on this machine; default: a free one")
      ->check(CLI::Range(1, 65535));
  command->add_flag("--no-browser", flags->no_browser, "Print the URL and open no browser");
  command->footer(
      "Serves the page of `ticopd report` on 127.0.0.1, and sends it new rows as they are logged. "
      "Only\nwho has the URL can read it; nothing can be changed through it.\n"
      "Examples:\n"
      "  ticopd watch runs/first\n"
      "  ticopd watch runs/figure --no-browser --port 8080\n"
      "  ssh -L 8080:127.0.0.1:8080 cluster          (then open the URL on your own machine)");
  command->callback([=, &action] { action = [=] { return watch(*flags); }; });
}

}  // namespace ticopd::app
