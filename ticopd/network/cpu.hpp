#pragma once

#ifdef __FAST_MATH__
#error "ticopd promises the same bits for the same seed: -ffast-math breaks that"
#endif

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/link_schedule.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/channel_noise.hpp"
#include "ticopd/network/field.hpp"
#include "ticopd/network/ledger.hpp"
#include "ticopd/network/mirror.hpp"
#include "ticopd/network/network.hpp"
#include "ticopd/network/operand.hpp"
#include "ticopd/network/plan.hpp"
#include "ticopd/network/pool.hpp"
#include "ticopd/network/wide.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {

// Seconds spent in each verb.
struct Phases {
  double gradient = 0, exchange = 0, update = 0, metrics = 0;
};

// How much of the exchanges with other ranks was hidden behind what stood between send and receive.
struct Overlap {
  double in_flight = 0;  // seconds from posting our frames until the last of theirs was here
  double waiting = 0;    // seconds of waiting in receive
  double hidden = 0;     // the part of in_flight that nobody waited for

  void add(double posted_at, double last_at, double waited) {
    const double flight = std::max(0.0, last_at - posted_at);
    in_flight += flight;
    waiting += waited;
    hidden += std::max(0.0, flight - waited);
  }
};

// What a network is made of. All of it must outlive the network.
template <class T>
struct Surroundings {
  const Graph& graph;
  const Objective<T>& objective;
  const Codec<T>& codec;
  Transport& transport;
  Pool& pool;
  Weights weights = Weights::metropolis;
  std::uint64_t seed = 1;
  std::size_t batch = 0;  // samples per gradient; 0: all
  LinkSchedule links = {};
  ChannelNoise channel_noise = {};
};

// The rows hosted by this process, and the verbs over them.
template <class T>
class CpuNetwork {
 public:
  using Scalar = T;
  using Field = ticopd::Field<T>;
  using Mirror = CpuMirror<T>;

  explicit CpuNetwork(const Surroundings<T>& s);

  Field field() const {
    state_bytes_ += plan_.rows() * s_.objective.dimension() * sizeof(T);
    return Field(plan_.rows(), s_.objective.dimension());
  }
  Field start() const;

  // The round being run, 1, 2, ...; 0 while a run is set up. Noise and batches follow from it.
  std::uint32_t round() const { return round_; }
  void begin_round(std::uint32_t round) { round_ = round; }

  void gradient(const Field& x, Field& g);       // over the round's mini-batch
  void full_gradient(const Field& x, Field& g);  // over all samples

  template <class F, class... Operands>
  void map(const F& formula, Operands&&... operands);

  const Mixing& laplacian() const { return laplacian_; }
  const Mixing& w_minus_i() const { return w_minus_i_; }
  const Mixing& w_neighbours() const { return w_neighbours_; }  // W without its diagonal
  PerAgent<T> self_weight() const { return {&self_weight_}; }   // w_ii
  PerAgent<T> degree() const { return {&degree_}; }             // |N_i|
  const Mixing& to_centre();                                    // ConfigError unless agent 0 is
  const Mixing& from_centre();                                  // everyone's neighbour

  // f_j(x) and its gradient for every hosted agent j, over all samples, at one common x.
  void evaluate_at(std::span<const T> x, std::span<double> values, Field& g);

  const Surroundings<T>& surroundings() const { return s_; }
  const Plan& plan() const { return plan_; }
  Ledger& ledger() { return ledger_; }
  Phases& phases() { return phases_; }
  Overlap& overlap() { return overlap_; }
  // Of all fields and mirrors that were made here, messages included.
  std::size_t state_bytes() const { return state_bytes_; }
  void count_state(std::size_t bytes) { state_bytes_ += bytes; }

 private:
  // One row of x (or the same for all) and where its value and gradient go.
  struct Request {
    std::span<const T> x;
    std::span<T> g;
    Batch batch;
  };
  void evaluate(std::vector<Request>& requests, std::span<double> values);
  double evaluate_agent(std::size_t row, const Request& request) const;
  Batch batch_of(int agent) const;
  void gradient(const Field& x, Field& g, bool full);

  Surroundings<T> s_;
  Plan plan_;
  Mixing laplacian_, w_minus_i_, w_neighbours_, to_centre_, from_centre_;
  std::vector<T> self_weight_, degree_;
  Ledger ledger_;
  Phases phases_;
  Overlap overlap_;
  mutable std::size_t state_bytes_ = 0;
  std::uint32_t round_ = 0;
  std::vector<T> partial_;  // gradients of blocks beyond an agent's first, of the last agents
};

// Adds the time since its birth to one phase.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds);
  ~PhaseTimer();

 private:
  double& seconds_;
  double begin_;
};

template <class T>
template <class F, class... Operands>
void CpuNetwork<T>::map(const F& formula, Operands&&... operands) {
  const PhaseTimer timer(phases_.update);
  const std::size_t cols = s_.objective.dimension(), rows = plan_.rows();
  // A task is some rows of a short stretch of columns: a mixture reads the rows of neighbours,
  // which then are still in a cache.
  constexpr std::size_t task_rows = 16, task_cols = 4 * map_chunk;
  const std::size_t row_blocks = (rows + task_rows - 1) / task_rows;
  const std::size_t tasks = row_blocks * ((cols + task_cols - 1) / task_cols);
  const auto task = [&](std::size_t t) {
    const std::size_t row = t % row_blocks * task_rows, end_row = std::min(rows, row + task_rows);
    const std::size_t col = t / row_blocks * task_cols, end_col = std::min(cols, col + task_cols);
    wide([&] {
      const F f = formula;  // a copy: what f writes to cannot be its own coefficients
      for (std::size_t i = row; i < end_row; ++i)
        for (std::size_t first = col; first < end_col; first += map_chunk) {
          const std::size_t count = std::min(map_chunk, end_col - first);
          const auto sweep = [&](const auto&... p) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
            for (std::size_t k = 0; k < count; ++k) f(p[k]...);
          };
          sweep(chunk_of(operands, i, first, count)...);
        }
    });
  };
  if (rows * cols < 32768)  // waking threads would cost more than it gains
    for (std::size_t t = 0; t < tasks; ++t) task(t);
  else
    s_.pool.run(tasks, task);
}

extern template class CpuNetwork<float>;
extern template class CpuNetwork<double>;

static_assert(Network<CpuNetwork<float>> && Network<CpuNetwork<double>>);

}  // namespace ticopd
