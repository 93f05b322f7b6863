#include "ticopd/capi/ranks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

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

}  // namespace

extern "C" {

int tc_ranks_join(double deadline_s, tc_ranks** ranks) {
  return capi::call([&] {
    capi::require(ranks, "ranks");
    *ranks = nullptr;
    if (!(deadline_s > 0 && deadline_s <= 1e9))
      throw UsageError(fmt::format("deadline_s = {}: allowed is a number above 0", deadline_s));
    if (processes_started() == 0)
      throw UnavailableError(
          "ranks: no mpirun started this process; start it with `mpirun -n 4 python ...`");
    auto made = std::make_shared<tc_ranks>();
    made->processes = join_processes(deadline_s, leave_at_once);
    made->processes->set_deadline(deadline_s);
    *ranks = capi::new_handle(made);
  });
}

int tc_ranks_size(const tc_ranks* ranks) {
  const auto found = std::dynamic_pointer_cast<tc_ranks>(capi::held(ranks));
  return found ? found->processes->size() : 0;
}

int tc_ranks_rank(const tc_ranks* ranks) {
  const auto found = std::dynamic_pointer_cast<tc_ranks>(capi::held(ranks));
  return found ? found->processes->rank() : 0;
}

int tc_ranks_close(tc_ranks* ranks) {
  return capi::call([&] {
    const capi::Use<tc_ranks> use(ranks, "ranks");
    use->processes->close();
    use->closed = true;
    capi::close_handle(ranks);
  });
}

int tc_ranks_fail(tc_ranks* ranks, int code, const char* why, char** report) {
  return capi::call([&] {
    const capi::Use<tc_ranks> use(ranks, "ranks");
    capi::require(why, "why");
    Processes& all = *use->processes;
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
    capi::give(text, report);
  });
}

int tc_ranks_leave(tc_ranks* ranks) {
  return capi::call([&] {
    const capi::Use<tc_ranks> use(ranks, "ranks");
    if (use->processes->rank() == 0) use->processes->let_go();
  });
}
}
