#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ticopd/table.hpp"
#include "ticopd/transport/processes.hpp"

namespace ticopd {

// Joins the processes that share a run; plugin.hpp says what `on_emergency` must do.
using JoinProcesses = std::unique_ptr<Processes> (*)(
    double deadline_s, const std::function<void(const std::string& what)>& on_emergency);

// An entry of the table of transports.
struct TransportInfo {
  // none: the one process is the only rank. threads: ranks inside the process, network.ranks of
  // them. processes: started from outside.
  enum class Ranks { none, threads, processes };

  std::string name;  // the word of network.transport, and `transport.kind` of run.json
  Ranks ranks;
  std::string summary;
  JoinProcesses join = nullptr;  // processes
};

Table<TransportInfo>& transport_table();

}  // namespace ticopd
