#include "ticopd/run/decision.hpp"

#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {

Decision::Decision(Transport& transport, const Saving& saving, const std::atomic<bool>* stop)
    : transport_(transport),
      every_s_(saving.every_s),
      every_(saving.every),
      stop_(stop),
      saved_at_(seconds_now()) {}

Next Decision::wish() const {
  if (stop_ && stop_->load()) return Next::stop;
  if (transport_.asked_to_stop()) return Next::stop;
  return every_s_ > 0 && seconds_now() - saved_at_ > every_s_ ? Next::save : Next::go;
}

Next Decision::told_by_leader() {
  const Bytes told = transport_.receive(0, channel_decision, 1);
  if (told.size() != 1) throw FormatError("a control message has a wrong length");
  return static_cast<Next>(told[0]);
}

Next Decision::after(std::uint32_t round, std::uint32_t end) {
  Next next = Next::go;
  if (transport_.size() == 1) {
    next = wish();
  } else if (transport_.rank() == 0) {
    next = std::exchange(promised_, Next::go);
    if (next != Next::stop && round < end) {
      promised_ = wish();
      for (int r = 1; r < transport_.size(); ++r)
        transport_.send(r, channel_decision, Bytes{static_cast<std::byte>(promised_)});
    }
  } else {
    if (stop_ && stop_->load() && !std::exchange(asked_, true)) transport_.ask_to_stop();
    if (round != first_round_) next = told_by_leader();  // nothing was sent before the first
  }
  const bool by_round = every_ > 0 && round % every_ == 0;
  return next == Next::go && by_round ? Next::save : next;
}

void Decision::give_up(std::uint32_t round) {
  // Take what rank 0 sent a round ahead, so that no message is left behind.
  if (transport_.size() > 1 && transport_.rank() > 0 && round > first_round_) told_by_leader();
}

void Decision::saved() {
  saved_at_ = seconds_now();
}

}  // namespace ticopd
