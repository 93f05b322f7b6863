#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "ticopd/transport/mpi.hpp"

namespace ticopd::dense {

inline int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// MPI_Barrier spins while it waits, which is slow with more processes than processors.
inline void patient_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

// Runs `body` on the first `ranks` processes. The other processes wait until they are done.
struct MpiRanks {
  static void run(int ranks, double deadline_s, const std::function<void(Transport&)>& body) {
    if (ranks > world_size()) throw std::logic_error("mpirun started too few processes");
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() < ranks ? 0 : MPI_UNDEFINED, 0, &some);
    std::exception_ptr error;
    if (some != MPI_COMM_NULL) {
      MpiTransport transport(some);
      transport.set_deadline(deadline_s);
      try {
        body(transport);
      } catch (...) {
        error = std::current_exception();
      }
      patient_barrier(some);  // no rank destroys its transport while others still use theirs
    }
    patient_barrier(MPI_COMM_WORLD);
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace ticopd::dense
