#pragma once

#include <memory>

#include "ticopd/transport/processes.hpp"

struct tc_ranks {
  std::unique_ptr<ticopd::Processes> processes;
  int process;  // a child of it must not speak to the others
};
