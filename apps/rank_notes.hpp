#pragma once

#include <filesystem>

namespace ticopd::app {

// What ranks tell the `ticopd launch` that started them, by a byte each in a file that the variable
// TICOPD_LAUNCH names: that they live, and with which exit code they end. mpirun's own exit code
// does not say it: MPICH's is the bitwise or of all of them, Open MPI's is the same for a program
// that was never started and for one that crashed. Where the file is not there (no launch, or
// another machine) nothing is written.
void note_start();
int note_end(int exit_code);  // gives it back: `return note_end(code);`

// The launcher's end of it.
struct RankNotes {
  bool started = false;  // some rank on this machine lives or lived
  bool failed = false;   // some rank has ended with another code than 0
  int code = 0;          // the first that says what is wrong; else 75 where a rank gave it
};
void begin_notes(const std::filesystem::path& file);  // DiskError where it cannot be made
RankNotes read_notes(const std::filesystem::path& file);
constexpr const char* notes_variable = "TICOPD_LAUNCH";

}  // namespace ticopd::app
