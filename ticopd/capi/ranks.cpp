#include "ticopd/capi/ranks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ticopd/capi/call.hpp"
#include "ticopd/error.hpp"
#include "ticopd/transport/plugin.hpp"

using namespace ticopd;

namespace {

// A rank that hangs inside MPI with a lost peer: nobody can be told but the terminal.
void leave_at_once(const std::string& what) {
  std::fprintf(stderr, "ticopd: %s\n", what.c_str());
  std::fflush(nullptr);
  std::_Exit(TC_INTERRUPTED);
}

void refuse_child(const tc_ranks* ranks) {
  capi::require(ranks, "ranks");
  if (ranks->process != ::getpid())
    throw UsageError("ranks: belong to the process that forked this one");
}

}  // namespace

extern "C" {

int tc_ranks_join(double deadline_s, tc_ranks** ranks) {
  return capi::call([&] {
    capi::require(ranks, "ranks");
    *ranks = nullptr;
    if (processes_started() == 0)
      throw UnavailableError(
          "ranks: no mpirun started this process; start it with `mpirun -n 4 python ...`");
    auto made = std::make_unique<tc_ranks>();
    made->process = ::getpid();
    made->processes = join_processes(deadline_s, leave_at_once);
    made->processes->set_deadline(deadline_s);
    *ranks = made.release();
  });
}

int tc_ranks_size(const tc_ranks* ranks) {
  return ranks == nullptr ? 0 : ranks->processes->size();
}

int tc_ranks_rank(const tc_ranks* ranks) {
  return ranks == nullptr ? 0 : ranks->processes->rank();
}

int tc_ranks_close(tc_ranks* ranks) {
  return capi::call([&] {
    refuse_child(ranks);
    ranks->processes->close();
    delete ranks;
  });
}

int tc_ranks_fail(tc_ranks* ranks, int code, const char* why, char** report) {
  return capi::call([&] {
    refuse_child(ranks);
    capi::require(why, "why");
    Processes& all = *ranks->processes;
    std::string what = why;
    if (const std::string lost = all.lost(); !lost.empty() && code != TC_INTERRUPTED) {
      code = TC_INTERRUPTED;
      what = fmt::format("rank {} lost {}; then: {}", all.rank(), lost, what);
    }
    all.abandon(code, what);
    const Processes::Parting parting = all.part();
    std::string text = all.rank() == 0 || !parting.told ? what : "";
    for (const Processes::Reason& reason : parting.reasons)
      if (what.find(reason.why) == std::string::npos) text += fmt::format("\n{}", reason.why);
    if (all.rank() == 0) all.let_go();
    capi::give(text, report);
  });
}
}
