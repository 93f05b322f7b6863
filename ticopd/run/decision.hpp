#pragma once

#include <atomic>
#include <cstdint>

#include "ticopd/run/setup.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// What all ranks do after a round.
enum class Next : unsigned char { go, save, stop };

// Rank 0 decides, so that all ranks save or stop after the same round. Its word is sent one round
// ahead: it travels while the ranks compute, and nobody waits for it.
class Decision {
 public:
  // `stop`: null, or set from outside. `first_round`: the first that this process makes.
  Decision(Transport& transport, const Saving& saving, const std::atomic<bool>* stop);

  void begin_with(std::uint32_t first_round) { first_round_ = first_round; }
  Next after(std::uint32_t round, std::uint32_t end);
  // The run stops in the middle of this round, on all ranks: nobody sends or waits any more.
  void give_up(std::uint32_t round);
  void saved();  // the clock of Saving::every_s starts again

 private:
  Next wish() const;  // what clock and signals ask for
  Next told_by_leader();

  Transport& transport_;
  double every_s_;
  std::uint32_t every_;
  const std::atomic<bool>* stop_;
  double saved_at_;
  std::uint32_t first_round_ = 1;
  Next promised_ = Next::go;  // rank 0: what it told the others to do after this round
  bool asked_ = false;        // others: rank 0 was told that this rank was asked to stop
};

}  // namespace ticopd
