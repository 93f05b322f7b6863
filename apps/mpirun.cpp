#include "apps/mpirun.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "ticopd/error.hpp"
#include "ticopd/system/cores.hpp"
#include "ticopd/system/program.hpp"
#include "ticopd/transport/plugin.hpp"

extern char** environ;

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Open MPI calls itself OpenRTE if its program has another name than mpirun.
bool says_open_mpi(const std::string& text) {
  return has(text, "Open MPI") || has(text, "OpenRTE") || has(text, "open-mpi");
}
bool says_mpich(const std::string& text) {
  return has(text, "HYDRA") || has(text, "MPICH") || has(text, "Intel(R) MPI");
}

// True if `program` belongs to the `wanted` MPI; otherwise `why` says why not.
bool fits(const std::string& program, Flavour wanted, std::string& why) {
  const Outcome asked =
      run_program({fs::absolute(program).string(), "--version"}, "/", /*seconds=*/20);
  if (!asked.fine) {
    why = fmt::format("{} --version: {}", program, asked.reason);
    return false;
  }
  const bool open_mpi = says_open_mpi(asked.output), mpich = says_mpich(asked.output);
  if (wanted == Flavour::open_mpi ? open_mpi : mpich) return true;
  why = fmt::format("{} belongs to {}", program,
                    open_mpi ? "Open MPI" : (mpich ? "MPICH" : "an unknown MPI"));
  return false;
}

}  // namespace

Mpirun find_mpirun(const std::string& given) {
  std::string missing;
  const std::string library = mpi_library(&missing);
  const char* const named = std::getenv("TICOPD_MPI_PLUGIN");
  if (library.empty() && named != nullptr && *named != '\0')
    throw UnavailableError(fmt::format(
        "launch: {}{}",
        has(missing, "TICOPD_MPI_PLUGIN") ? "" : fmt::format("TICOPD_MPI_PLUGIN = \"{}\": ", named),
        missing));
  if (library.empty())
    throw UnavailableError(
        "launch: this build has no MPI support; install libopenmpi-dev and openmpi-bin and build "
        "again");
  const Flavour flavour = says_open_mpi(library) ? Flavour::open_mpi : Flavour::mpich;
  // Try Debian's specific names first: plain mpirun may belong to another MPI.
  std::vector<std::string> names{"mpirun.openmpi", "mpirun"};
  if (flavour == Flavour::mpich) names = {"mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec"};
  if (!given.empty()) names = {given};
  std::string why;
  for (const std::string& name : names) {
    const std::string program = has(name, "/") ? name : find_program(name).string();
    if (program.empty() || ::access(program.c_str(), X_OK) != 0) continue;
    if (std::string reason; fits(program, flavour, reason))
      return {program, flavour};
    else if (why.empty())
      why = reason;
  }
  if (why.empty()) why = fmt::format("{}: not found", fmt::join(names, ", "));
  throw UnavailableError(
      fmt::format("launch: {}; the MPI support of this build needs the mpirun of {}: "
                  "install {}, or name one with --mpirun PROGRAM",
                  why, library, flavour == Flavour::open_mpi ? "openmpi-bin" : "mpich"));
}

bool may_be_elsewhere(const Placement& placement) {
  if (!placement.hostfile.empty()) return true;
  // mpirun itself asks these batch systems for their nodes.
  for (const char* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST", "PBS_NODEFILE",
                           "LSB_DJOB_HOSTFILE", "LSB_HOSTS", "PE_HOSTFILE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

namespace {

// Processors per rank if the ranks use the whole machine; 0 leaves the ranks unbound. mpirun always
// starts to count at the machine's first processor. If the ranks need only some processors, or this
// process may use only some, binding could put the ranks on processors that others use.
int bound_processors(const Placement& placement) {
  const int cores = usable_cores();
  if (cores != static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) ||
      allowed_cpus().size() != static_cast<std::size_t>(cores))
    return 0;
  if (placement.threads == 0) return cores / placement.ranks;
  return static_cast<long>(placement.ranks) * placement.threads == cores ? placement.threads : 0;
}

// The environment variables to pass with -x: Open MPI copies none to other machines by itself.
std::vector<std::string> variables_to_take() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name(*entry, std::strcspn(*entry, "="));
    if ((name.starts_with("TICOPD_") && name != notes_variable) || name.starts_with("OPENBLAS_") ||
        name == "XDG_CACHE_HOME")
      names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> open_mpi_words(const Placement& placement) {
  std::vector<std::string> words;
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(), {"-n", std::to_string(placement.ranks)});
  if (may_be_elsewhere(placement)) {
    if (!placement.hostfile.empty()) words.insert(words.end(), {"--hostfile", placement.hostfile});
    if (placement.threads > 0)
      words.insert(words.end(), {"--map-by", fmt::format("slot:PE={}", placement.threads),
                                 "--bind-to", "core:overload-allowed:if-supported"});
    else
      words.insert(words.end(), {"--bind-to", "none"});
    for (const std::string& name : variables_to_take()) words.insert(words.end(), {"-x", name});
  } else if (const int processors = bound_processors(placement); processors > 0) {
    // Count hardware threads, not cores: with hyperthreading a core has several of them.
    words.insert(words.end(),
                 {"--use-hwthread-cpus", "--map-by", fmt::format("slot:PE={}", processors),
                  "--bind-to", "hwthread:if-supported"});
  } else {
    // Open MPI refuses more ranks than cores unless it is told to oversubscribe.
    words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  }
  return words;
}

std::vector<std::string> mpich_words(const Placement& placement) {
  std::vector<std::string> words{"-n", std::to_string(placement.ranks)};
  int processors = 0;
  if (may_be_elsewhere(placement)) {
    if (!placement.hostfile.empty()) words.insert(words.end(), {"-f", placement.hostfile});
    processors = placement.threads;
  } else {
    processors = bound_processors(placement);
  }
  const std::string each = fmt::format("hwthread:{}", processors);
  if (processors > 0)
    words.insert(words.end(), {"-bind-to", each, "-map-by", each});
  else
    words.insert(words.end(), {"-bind-to", "none"});
  return words;
}

}  // namespace

std::vector<std::string> mpirun_words(const Mpirun& mpirun, const Placement& placement) {
  std::vector<std::string> words =
      mpirun.flavour == Flavour::open_mpi ? open_mpi_words(placement) : mpich_words(placement);
  words.insert(words.begin(), mpirun.program);
  return words;
}

namespace {

constexpr int unavailable = 69, internal = 70, disk = 74, try_again = 75;

bool is_ours(int code) {
  for (const int ours : {64, 65, 69, 70, 74, 75, 76, 78})
    if (code == ours) return true;
  return false;
}

// The signal that ended a rank, taken from mpirun's exit code; 0 if there was none. The code is
// 128 + signal, and with MPICH also the signal itself.
int signal_of_rank(Flavour flavour, int code) {
  if (code > 128 && code < 128 + 32) return code - 128;
  return flavour == Flavour::mpich && code > 1 && code < 32 ? code : 0;
}

bool is_crash(int signal) {
  for (const int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT, SIGTRAP, SIGSYS})
    if (signal == crash) return true;
  return false;
}

}  // namespace

// The rules go from certain to vague: first the ranks' own notes, then crashes and requests to
// stop, last what mpirun's exit code suggests.
Ending meaning(const Mpirun& mpirun, const Observed& observed) {
  const RankNotes& notes = observed.notes;
  const int status = observed.status;
  // Without mpirun the ranks have nowhere to print to: their code says so, and no disk is full.
  const bool mute = WIFSIGNALED(status) && !observed.hung && notes.code == disk;
  if (is_ours(notes.code) && notes.code != try_again && !mute) return {notes.code, {}};
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const int signal = WIFEXITED(status) ? signal_of_rank(mpirun.flavour, code) : 0;
  // Open MPI also exits with 131 or 132 if it could not start the program: 128 + SIGQUIT, SIGILL.
  if (is_crash(signal) && (notes.started || signal == SIGSEGV))
    return {internal, fmt::format("a rank crashed ({}); please report it", ::strsignal(signal))};
  if (observed.asked && code != 0) return {try_again, "interrupted"};
  if (notes.code == try_again || code == try_again) return {try_again, "a rank was lost"};
  if (observed.hung)
    return {try_again, fmt::format("all ranks have ended, and {} did not", mpirun.program)};
  if (code == 0) return {};
  if (is_ours(code)) return {code, {}};
  if (signal != 0 && !is_crash(signal))
    return {try_again, fmt::format("a rank was ended by {} (its machine failed, or memory ran out)",
                                   signal == SIGKILL ? "kill -9" : ::strsignal(signal))};
  if (WIFSIGNALED(status))
    return {try_again,
            fmt::format("{} was ended: {}", mpirun.program, ::strsignal(WTERMSIG(status)))};
  constexpr int open_mpi_lost_daemon = 205;
  if (notes.started || (observed.elsewhere && code == open_mpi_lost_daemon))
    return {try_again, fmt::format("{} failed with {} while the ranks ran", mpirun.program, code)};
  return {unavailable,
          fmt::format("launch: {} failed with {}{}; its message is above", mpirun.program, code,
                      observed.elsewhere ? "" : " before any rank ran")};
}

}  // namespace ticopd::app
