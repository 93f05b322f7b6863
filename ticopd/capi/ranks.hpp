#pragma once

#include <memory>

#include "ticopd/capi/handles.hpp"
#include "ticopd/transport/processes.hpp"

struct tc_ranks : ticopd::capi::Held {
  std::unique_ptr<ticopd::Processes> processes;
  std::atomic<bool> closed{false};  // MPI has ended: the runs over these ranks cannot go on
};
