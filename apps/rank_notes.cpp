#include "apps/rank_notes.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "ticopd/system/file.hpp"

namespace ticopd::app {
namespace {

constexpr unsigned char alive = 255;  // not one of our exit codes
constexpr int peer_lost = 75;

// Opens without O_CREAT: on another machine the file does not exist and must not be created.
void note(unsigned char byte) {
  const char* file = std::getenv(notes_variable);
  if (file == nullptr || *file == '\0') return;
  const int descriptor = ::open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)!::write(descriptor, &byte, 1);
  ::close(descriptor);
}

}  // namespace

void note_start() {
  note(alive);
}

int note_end(int exit_code) {
  note(static_cast<unsigned char>(exit_code));
  return exit_code;
}

void begin_notes(const std::filesystem::path& file) {
  create_file(file);
}

RankNotes read_notes(const std::filesystem::path& file) {
  RankNotes notes;
  std::ifstream in(file, std::ios::binary);
  for (char byte; in.get(byte);) {
    notes.started = true;
    const int code = static_cast<unsigned char>(byte);
    if (code == alive || code == 0) continue;
    notes.failed = true;
    // A rank that fails leaves the others without a peer, and they end with peer_lost. The first
    // other code is the reason, so it replaces peer_lost.
    if (notes.code == 0 || (notes.code == peer_lost && code != peer_lost)) notes.code = code;
  }
  return notes;
}

}  // namespace ticopd::app
