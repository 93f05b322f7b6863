#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ticopd/transport/processes.hpp"

namespace ticopd {

// MPI comes as a plug-in, libticopd_mpi.so, which is opened only where it is needed. So one binary
// starts on machines without any MPI, is the one that mpirun starts too, and a cluster with an MPI
// of its own needs only the plug-in built anew.

// How many processes mpirun (or srun, or mpiexec) says it started; 0 where this process was not
// started by one. From the environment, so it costs nothing.
int processes_started();
// Which of them this is; 0 where that is not known.
int process_number();

// What MPI the plug-in was built with: "Open MPI 4.1.4", "MPICH 4.0.2"; empty: there is no plug-in.
std::string mpi_library();

// Joins the other processes. UnavailableError where there is no plug-in, or it belongs to another
// MPI than the mpirun that started us.
//
// A process that never arrives would keep the others waiting inside MPI: past the deadline
// `on_emergency` is called, here and later (Processes), and must end the process.
std::unique_ptr<Processes> join_processes(
    double deadline_s, const std::function<void(const std::string& what)>& on_emergency);

}  // namespace ticopd
