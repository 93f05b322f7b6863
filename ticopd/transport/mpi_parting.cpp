// How MPI ranks end: all together, or with a message to the ranks that would wait.
#include <algorithm>
#include <cstring>

#include "ticopd/transport/collective.hpp"
#include "ticopd/transport/mpi.hpp"

namespace ticopd {
namespace {

constexpr std::size_t most_text = 2000;

// exit code (i32), whether it is the rank's own trouble (u8), text
Bytes farewell(int exit_code, bool own, const std::string& why) {
  const std::int32_t code = exit_code;
  const std::string text = why.substr(0, most_text);
  Bytes bytes(sizeof code + 1 + text.size());
  std::memcpy(bytes.data(), &code, sizeof code);
  bytes[sizeof code] = std::byte{own};
  if (!text.empty()) std::memcpy(bytes.data() + sizeof code + 1, text.data(), text.size());
  return bytes;
}

}  // namespace

// A rank that fails by itself tells all ranks. A rank that was told of a failure tells rank 0,
// which counts the ranks that are left.
void MpiTransport::abandon(int exit_code, const std::string& why) {
  const std::string who = why.starts_with("rank ") ? "" : "rank " + std::to_string(rank_) + ": ";
  for (int r = 0; r < size_; ++r) {
    if (r == rank_ || (was_told_ && r != 0) || is_gone(r)) continue;
    try {
      post_send(r, tag_farewell, farewell(exit_code, !was_told_, who + why));
    } catch (const Error&) {  // then it finds out by the deadline
    }
  }
}

void MpiTransport::hear_farewells() {
  const Inside inside(*this);
  for (;;) {
    int there = 0, length = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, tag_farewell, comm_, &there, &message, &status) !=
            MPI_SUCCESS ||
        there == 0)
      return;
    MPI_Get_count(&status, MPI_BYTE, &length);
    // The message is so short that it is complete when MPI reports it, so this does not wait.
    Bytes bytes(std::min<std::size_t>(static_cast<std::size_t>(length), 5 + most_text));
    MPI_Mrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    if (bytes.size() < 5) continue;
    std::int32_t code = 0;
    std::memcpy(&code, bytes.data(), sizeof code);
    farewells_.push_back({status.MPI_SOURCE,
                          code,
                          bytes[4] != std::byte{0},
                          {reinterpret_cast<const char*>(bytes.data()) + 5, bytes.size() - 5}});
  }
}

void MpiTransport::ask_to_stop() {
  post_send(0, tag_stop, {});
}

bool MpiTransport::asked_to_stop() {
  const Inside inside(*this);
  int there = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, tag_stop, comm_, &there, MPI_STATUS_IGNORE);
  return there != 0;
}

bool MpiTransport::has_parted(int rank) const {
  return std::any_of(farewells_.begin(), farewells_.end(),
                     [rank](const Farewell& f) { return f.from == rank; });
}

bool MpiTransport::all_have_parted() const {
  for (int r = 1; r < size_; ++r)
    if (!has_parted(r)) return false;
  return true;
}

Processes::Parting MpiTransport::part() try {
  Parting parting;
  if (rank_ == 0) {
    wait_up_to(parting_s, [this] {
      hear_farewells();
      for (int r = 1; r < size_; ++r)
        if (!has_parted(r) && !is_gone(r)) return false;
      return true;
    });
    for (const Farewell& f : farewells_)
      if (f.own) parting.reasons.push_back({f.from, f.why});
    return parting;
  }
  const Pending word = post_receive(0, tag_let_go, 1);
  wait_up_to(1.5 * parting_s, [&] {
    const Inside inside(*this);
    return word->done || is_gone(0);
  });
  parting.told = word->done && word->error == MPI_SUCCESS;
  if (parting.told && word->bytes == Bytes{std::byte{1}}) finalize();
  return parting;
} catch (const Interrupted&) {  // MPI hangs: there is nobody to take leave of
  return {.told = false, .reasons = {}};
}

void MpiTransport::let_go() try {
  const bool all = all_have_parted();
  for (int r = 1; r < size_; ++r)
    if (!is_gone(r)) post_send(r, tag_let_go, Bytes{std::byte{all}});
  flush();
  if (all) finalize();
} catch (const Interrupted&) {
}

// Sent messages are on their way; this rank does not wait for a peer that does not take them.
void MpiTransport::flush() {
  wait_up_to(1, [this] {
    const Inside inside(*this);
    return requests_.empty();
  });
}

// The progress thread stays until the end: MPI may hang in its last call too.
void MpiTransport::finalize() {
  moves_ = false;
  leaving_ = true;
  release();
  if (ends_mpi_) {
    const Inside inside(*this);
    MPI_Finalize();
  }
  end_progress();
}

void MpiTransport::close() {
  barrier(*this, channel_control);
  flush();
  finalize();
}

}  // namespace ticopd
