#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/link_schedule.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/channel_noise.hpp"
#include "ticopd/network/field.hpp"
#include "ticopd/network/ledger.hpp"
#include "ticopd/network/metric_scope.hpp"
#include "ticopd/network/placement.hpp"
#include "ticopd/network/routes.hpp"
#include "ticopd/numeric/seed.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/system/pool.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Seconds spent in each verb.
struct Phases {
  double gradient = 0, exchange = 0, update = 0, metrics = 0;
};

// How much of the exchanges with other ranks overlapped the work between send and receive.
struct Overlap {
  double in_flight = 0;  // seconds from posting our frames until the last of theirs arrived
  double waiting = 0;    // seconds of waiting in receive
  double hidden = 0;     // the part of in_flight that nobody waited for

  void add(double posted_at, double last_at, double waited) {
    const double flight = std::max(0.0, last_at - posted_at);
    in_flight += flight;
    waiting += waited;
    hidden += std::max(0.0, flight - waited);
  }
};

// The global objective f = (1/n) sum_i f_i at one point.
struct Global {
  double value, gradient_norm2;
};

// The parts of a network. All of them must outlive it.
template <class T>
struct Surroundings {
  const Graph& graph;
  const Objective<T>& objective;
  const Codec<T>& codec;
  Transport& transport;
  Pool& pool;
  Weights weights = Weights::metropolis;
  std::uint64_t seed = default_seed;               // of batches, messages and links
  std::optional<std::uint64_t> problem_seed = {};  // of start and measured subsets; empty: `seed`
  std::function<void(int agent, std::span<T> x)> start_of = {};  // empty: one start for all
  std::size_t batch = 0;                           // samples per gradient; 0: all
  LinkSchedule links = {};
  ChannelNoise channel_noise = {};
  MetricScope metric_scope = {};
  const std::atomic<bool>* stop = nullptr;  // set from outside: a measurement gives up soon
  // The rows will be restored from a checkpoint, so what a run sends while it is set up is not sent
  // again: for sites, whose neighbours have it already and count every frame.
  bool restored = false;
  std::vector<int> blocks = {};  // agents of each rank; empty: dealt by the number of samples

  std::uint64_t seed_of_problem() const { return problem_seed.value_or(seed); }
};

// Reserves a channel for a mirror's lifetime: two mirrors on one channel would share their noise,
// and over ranks their frames. logic_error for a channel that is taken, and from 64 on, where the
// ids of messages over single links begin (docs/wire_format.md).
class OwnChannel {
 public:
  OwnChannel(std::uint64_t& taken, std::uint16_t number);
  ~OwnChannel() { taken_ &= ~(1ull << number_); }
  OwnChannel(const OwnChannel&) = delete;
  OwnChannel& operator=(const OwnChannel&) = delete;
  operator std::uint16_t() const { return number_; }

 private:
  std::uint64_t& taken_;
  std::uint16_t number_;
};

// A network on any device: what the loop over rounds, metrics and checkpoints need of the rows that
// this process hosts, on host or device. The verbs of algorithms are in the concept (network.hpp).
template <class T>
class AnyNetwork {
 public:
  explicit AnyNetwork(const Surroundings<T>& s);
  virtual ~AnyNetwork() = default;

  // The round being run, 1, 2, ...; 0 while a run is set up. Noise and batches follow from it.
  std::uint32_t round() const { return round_; }
  virtual void begin_round(std::uint32_t round) { round_ = round; }

  // f_j(x) and its gradient for every hosted agent j, over all samples, at one common x.
  virtual void evaluate_at(std::span<const T> x, std::span<double> values, Field<T>& g) = 0;
  // f and ||grad f||^2 at a model that all ranks know, over all agents of all ranks and the samples
  // of the metric scope.
  virtual Global global_at(std::span<const T> x) = 0;
  // f_i(x_i) for every hosted agent i, over the samples of the metric scope.
  virtual std::vector<double> local_values(const Field<T>& x) = 0;
  // The share of the test samples that x classifies correctly.
  virtual double accuracy(std::span<const T> x) = 0;
  virtual void measured() {}  // called after the last of these: may free their memory

  const Mixing& laplacian() const { return laplacian_; }
  const Mixing& w_minus_i() const { return w_minus_i_; }
  const Mixing& w_neighbours() const { return w_neighbours_; }  // W without its diagonal
  const Mixing& to_centre();                                    // ConfigError unless agent 0 is
  const Mixing& from_centre();                                  // everyone's neighbour

  OwnChannel channel(std::uint16_t number) { return {channels_, number}; }

  const Surroundings<T>& surroundings() const { return s_; }
  const Placement& placement() const { return placement_; }
  virtual Ledger& ledger() { return ledger_; }
  Phases& phases() { return phases_; }
  Overlap& overlap() { return overlap_; }
  // The bytes of all fields and mirrors that were made here, messages included.
  std::size_t state_bytes() const { return state_bytes_; }
  void count_state(std::size_t bytes) { state_bytes_ += bytes; }

 protected:
  // One number per hosted agent.
  const std::vector<T>& self_weights() const { return self_weight_; }
  const std::vector<T>& degrees() const { return degree_; }

  Surroundings<T> s_;
  Placement placement_;
  mutable std::size_t state_bytes_ = 0;
  std::uint32_t round_ = 0;

 private:
  Mixing laplacian_, w_minus_i_, w_neighbours_, to_centre_, from_centre_;
  std::vector<T> self_weight_, degree_;
  std::uint64_t channels_ = 0;  // one bit per taken channel
  Ledger ledger_;
  Phases phases_;
  Overlap overlap_;
};

// A mirror on any device: its surrogates, and the agent of each.
template <class T>
class AnyMirror {
 public:
  virtual ~AnyMirror() = default;
  virtual Field<T>& rows() = 0;
  virtual const Routes<T>& routes() const = 0;
  virtual const Field<T>& own() const = 0;  // one row per hosted agent
  virtual void receive() = 0;               // no-op if nothing is in flight
  virtual void resumed() = 0;  // call it after rows() were restored at the network's round
};

// Adds the time of its scope to one phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds);
  ~PhaseTimer();

 private:
  double& seconds_;
  double begin_;
};

extern template class AnyNetwork<float>;
extern template class AnyNetwork<double>;

}  // namespace ticopd
