#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "ticopd/bytes.hpp"
#include "ticopd/error.hpp"
#include "ticopd/transport/traffic.hpp"

namespace ticopd {

// Mirrors use channels 0, 1, ...; the run loop has its own above them, kept out of the ledger.
enum Channel : std::uint32_t {
  channel_control = 0xff00,
  channel_decision,
  channel_metrics,
  channel_metrics_scalars,
  channel_digest,
  channel_checkpoint,
};

// How long a rank waits for another before it gives up, in seconds.
inline constexpr double default_deadline_s = 60;

inline constexpr std::size_t any_length = std::numeric_limits<std::size_t>::max();

// Carries ordered byte strings between ranks. It counts them here, the same way for every transport
// and independently of the codecs' count, so that `ticopd audit` can compare the two.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Never waits for the peer. Frames to one peer on one channel arrive in the order sent.
  void send(int to, std::uint32_t channel, Bytes frame) {
    count(traffic_.sent, traffic_.control_sent, to, channel, frame);
    do_send(to, channel, std::move(frame));
  }

  // Announces that a frame of at most `most` bytes will be received from there, so that the
  // transport can take it in early. One `receive` must follow for each.
  virtual void expect(int from, std::uint32_t channel, std::size_t most) {
    (void)from, (void)channel, (void)most;
  }

  // Waits; throws Interrupted, naming the rank, when the peer is gone or the deadline has passed,
  // and FormatError for a frame of more than `most` bytes, which is then not kept.
  Bytes receive(int from, std::uint32_t channel, std::size_t most = any_length) {
    Arrival came = do_receive(from, channel, most);
    if (came.frame.size() > most) refuse_length(from, came.frame.size(), most);
    count(traffic_.received, traffic_.control_received, from, channel, came.frame);
    arrived_at_ = came.at;
    return std::move(came.frame);
  }
  // When the last received frame arrived (seconds_now()), perhaps long before `receive` was called.
  double arrived_at() const { return arrived_at_; }

  // This rank gives up: every rank that waits for it, now or later, gets the reason and throws.
  virtual void abandon(int exit_code, const std::string& why) = 0;

  // A rank that was asked to stop tells rank 0, which decides for all.
  virtual void ask_to_stop() {}
  virtual bool asked_to_stop() { return false; }

  // The current round, for messages.
  void set_round(std::uint32_t round) { round_.store(round); }

  Traffic& traffic() { return traffic_; }

 protected:
  struct Arrival {
    Bytes frame;
    double at = 0;
  };
  virtual void do_send(int to, std::uint32_t channel, Bytes frame) = 0;
  virtual Arrival do_receive(int from, std::uint32_t channel, std::size_t most) = 0;

  std::string in_round() const { return " (round " + std::to_string(round_.load()) + ")"; }

  [[noreturn]] static void refuse_length(int from, std::size_t length, std::size_t most) {
    throw FormatError("a frame from rank " + std::to_string(from) + " has " +
                      std::to_string(length) + " bytes, expected at most " + std::to_string(most));
  }

 private:
  static void count(Traffic::ByAgent& frames, Traffic::Count& control, int peer,
                    std::uint32_t channel, const Bytes& frame) {
    Traffic::Count& c =
        channel >= channel_control ? control : frames[{Traffic::agent_of(frame), peer}];
    ++c.frames;
    c.bytes += frame.size();
  }

  Traffic traffic_;
  double arrived_at_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
};

// All agents in this process.
class Alone final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void abandon(int, const std::string&) override {}

 protected:
  void do_send(int, std::uint32_t, Bytes) override { throw std::logic_error("Alone has no peers"); }
  Arrival do_receive(int, std::uint32_t, std::size_t) override {
    throw std::logic_error("Alone has no peers");
  }
};

}  // namespace ticopd
