#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/rank_notes.hpp"

namespace ticopd::app {

// What is known about the programs called mpirun: which there are, what they are told, and what
// their exit codes mean. docs/clusters.md has the measurements.
enum class Flavour { open_mpi, mpich };

struct Mpirun {
  std::string program;
  Flavour flavour;
};

// The one that belongs to the MPI this build was made for, or `given` if it is not empty and does.
// `scratch` is a folder for what it says. UnavailableError where there is none.
Mpirun find_mpirun(const std::string& given, const std::filesystem::path& scratch);

struct Placement {
  int ranks = 0;
  int threads = 0;  // of each rank; 0: its share of the processors
  std::string hostfile;
};

// Whether the ranks may run on other machines than this one: a hostfile, or a batch system's nodes.
bool may_be_elsewhere(const Placement& placement);

// The command line up to the program that the ranks run.
std::vector<std::string> mpirun_words(const Mpirun& mpirun, const Placement& placement);

// How it ended, in our exit codes, and a line about it where the ranks cannot have said it.
struct Ending {
  int code = 0;
  std::string why;
};
struct Observed {
  int status = 0;  // of mpirun, as waitpid gives it
  RankNotes notes;
  bool asked = false;      // to stop, by a signal
  bool elsewhere = false;  // ranks that this machine's notes know nothing of
};
Ending meaning(const Mpirun& mpirun, const Observed& observed);

}  // namespace ticopd::app
