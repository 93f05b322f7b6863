#pragma once

namespace ticopd {

// Mistakes that a test plants into the code of sites, one at a time, to see that the simulator
// finds each of them (tests/site/planted_test.cpp). Elsewhere `planted` is false when it is
// compiled.
enum class Bug : unsigned char {
  none,
  confirm_newest,    // safe: what the newest checkpoint has consumed, not the older one
  confirm_received,  // safe: what was received
  trim_received,     // drop frames that the peer has received
  skip_gaps,         // take a frame that is not the next
  take_twice,        // take a frame that came before
  any_nonce,         // take the answer to another hello
  keep_cursor,       // do not go back for a process that was started again
  never_resend,      // trust the wire
  forget_outbox,     // a checkpoint without the frames that are not safe
  miscount_sent,     // a checkpoint that counts one frame too few
  save_received,     // a checkpoint that counts frames which were not consumed
  no_sync,           // give a file its name before it is on the disk
  no_folder_sync,    // ... and do not flush the name
  one_generation,    // keep only the newest checkpoint
  trust_files,       // do not check the hash of a checkpoint
  send_start_again,  // a restored run sends its warm start
  forget_ghosts,     // do not restore the ghost rows
  forget_log,        // a checkpoint without the hashes of logged rounds
  mix_channels,      // one queue for all channels
  any_offset,        // put pieces together as they come
  no_probe,          // do not ask who a new process is
  trust_fsync,       // take a failed flush for a good one
  trust_write,       // ... and a failed write
  forget_consumed,   // do not count what was consumed
  confirm_too_soon,  // safe: before the checkpoint is on the disk
  save_in_flight,    // a checkpoint while a mirror is in flight
  adopt_in_memory,   // act on a roster that is not on the disk
  forget_start,      // a checkpoint without the start of its epoch
  start_half_moved,  // begin an epoch in the middle of a round
  any_epoch,         // take frames of another epoch
  start_at_one,      // surrogates of an epoch begin as if all agents began alike
  count
};

#ifdef TICOPD_PLANTED_BUGS
extern Bug planted_bug;
inline bool planted(Bug bug) {
  return planted_bug == bug;
}
#else
constexpr bool planted(Bug) {
  return false;
}
#endif

}  // namespace ticopd
