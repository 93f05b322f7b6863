#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/rank_notes.hpp"

namespace ticopd::app {

// This file knows the programs called mpirun: which ones exist, their options, and the meaning of
// their exit codes. docs/clusters.md has the measurements.
enum class Flavour { open_mpi, mpich };

// An mpirun program and the MPI that it belongs to.
struct Mpirun {
  std::string program;
  Flavour flavour;
};

// Finds the mpirun of the MPI that this build was made for. If `given` is not empty, only that
// program is considered. UnavailableError if none is found.
Mpirun find_mpirun(const std::string& given);

// How many ranks to start, and where.
struct Placement {
  int ranks = 0;
  int threads = 0;  // per rank; 0: an equal share of the processors
  std::string hostfile;
};

// True if ranks may run on other machines: there is a hostfile, or a batch system gives the nodes.
bool may_be_elsewhere(const Placement& placement);

// The mpirun command line, without the program that the ranks run.
std::vector<std::string> mpirun_words(const Mpirun& mpirun, const Placement& placement);

// How mpirun ended, as one of our exit codes. `why` is empty if a rank has printed the reason.
struct Ending {
  int code = 0;
  std::string why;
};
// The facts that launch has after mpirun has ended.
struct Observed {
  int status = 0;  // of mpirun, as waitpid gives it
  RankNotes notes;
  bool hung = false;       // mpirun went on after its ranks, and was ended by us
  bool asked = false;      // a signal asked us to stop
  bool elsewhere = false;  // some ranks may run on other machines, which leave no notes here
  std::string message;     // paragraphs by mpirun that were not shown
};
Ending meaning(const Mpirun& mpirun, const Observed& observed);

}  // namespace ticopd::app
