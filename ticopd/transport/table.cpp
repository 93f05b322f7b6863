#include "ticopd/transport/table.hpp"

#include "ticopd/transport/plugin.hpp"

namespace ticopd {

// A new transport is a class and a line here.
Table<TransportInfo>& transport_table() {
  using Ranks = TransportInfo::Ranks;
  static Table<TransportInfo> table{
      "network.transport",
      {{"none", Ranks::none,
        "all agents in this process, or over the ranks where mpirun started it"},
       {"threads", Ranks::threads, "ranks as threads, with real frames between them"},
       {"mpi", Ranks::processes, "MPI ranks; without mpirun a single one", join_processes}}};
  return table;
}

}  // namespace ticopd
