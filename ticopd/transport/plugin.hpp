#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ticopd/transport/processes.hpp"

namespace ticopd {

// MPI is a plug-in, libticopd_mpi.so, which is opened only when it is needed. So one binary starts
// on machines without MPI and under mpirun, and a cluster with another MPI must rebuild only the
// plug-in.

// The number of processes that mpirun (or srun, or mpiexec) started; 0 if none of them started this
// process. Read from the environment.
int processes_started();
// The rank of this process among them; 0 if unknown.
int process_number();

// The MPI that the plug-in was built with: "Open MPI 4.1.4", "MPICH 4.0.2"; empty without a
// plug-in, and then `missing` says why.
std::string mpi_library(std::string* missing = nullptr);

// Joins the other processes. Throws UnavailableError if there is no plug-in, or if its MPI is not
// that of the mpirun that started us.
//
// A process that never arrives would keep the others waiting inside MPI: past the deadline
// `on_emergency` is called, here and later (Processes), and must end the process.
std::unique_ptr<Processes> join_processes(
    double deadline_s, const std::function<void(const std::string& what)>& on_emergency);

}  // namespace ticopd
