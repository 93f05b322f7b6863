#include <cstdio>
#include <cstdlib>

#include "apps/commands.hpp"
#include "apps/rank_notes.hpp"
#include "ticopd/error.hpp"

namespace ticopd::app {
namespace {

// True if `what` already covers `reason`: ranks give the same reason if the config is wrong, or if
// one rank is lost.
bool said_already(const std::string& what, const Processes::Reason& reason) {
  const std::string prefix = "rank " + std::to_string(reason.rank) + ": ";
  const std::string why =
      reason.why.starts_with(prefix) ? reason.why.substr(prefix.size()) : reason.why;
  return what.find(why) != std::string::npos || (what.find(" lost rank ") != std::string::npos &&
                                                 why.find(" lost rank ") != std::string::npos);
}

// Ends this process after all ranks have given up. Rank 0 prints the reasons of all ranks. If it is
// lost, each rank prints its own reason.
[[noreturn]] void leave(Processes& ranks, int code, std::string what) {
  // A peer that dies in the middle of a frame can cause any error here. Its death is the reason.
  if (const std::string lost = ranks.lost(); !lost.empty() && code != Interrupted("").exit_code()) {
    code = Interrupted("").exit_code();
    what = "rank " + std::to_string(ranks.rank()) + " lost " + lost + "; then: " + what;
  }
  ranks.abandon(code, what);
  const Processes::Parting parting = ranks.part();
  if (ranks.rank() == 0) {
    complain(code, what);
    for (const Processes::Reason& reason : parting.reasons)
      if (!said_already(what, reason)) complain(code, reason.why);
    ranks.let_go();
  } else if (!parting.told) {
    complain(code, what);
  }
  std::fflush(nullptr);
  std::_Exit(note_end(code));  // no clean-up: peers that are gone answer no MPI request
}

}  // namespace

void leave_at_once(const std::string& what) {
  const int code = complain(Interrupted("").exit_code(), what);
  std::fflush(nullptr);
  std::_Exit(note_end(code));
}

int together(Processes& ranks, const std::function<int()>& body) {
  try {
    const int code = body();
    ranks.close();
    return code;
  } catch (const std::exception& e) {
    const Failure failure = failure_of(e);
    leave(ranks, failure.code, failure.what);
  }
}

}  // namespace ticopd::app
