#pragma once

#include <filesystem>

namespace ticopd::app {

// A rank tells the `ticopd launch` that started it when it starts and with which exit code it ends.
// Each note is one byte, appended to the file that the variable TICOPD_LAUNCH names. mpirun's exit
// code is not enough: MPICH returns the bitwise or of all codes, and Open MPI returns the same code
// for a program that never started and for one that crashed. If the file does not exist (no launch,
// or another machine), nothing is written.
void note_start();
int note_end(int exit_code);  // returns exit_code: `return note_end(code);`

// The notes as the launcher reads them.
struct RankNotes {
  bool started = false;  // some rank on this machine has started
  bool failed = false;   // some rank has ended with a code other than 0
  int code = 0;          // the first failure that is not 75 (peer lost); else 75 or 0
};
void begin_notes(const std::filesystem::path& file);  // DiskError if it cannot be created
RankNotes read_notes(const std::filesystem::path& file);
constexpr const char* notes_variable = "TICOPD_LAUNCH";

}  // namespace ticopd::app
