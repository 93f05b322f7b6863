#pragma once

#ifdef __FAST_MATH__
#error "ticopd promises the same bits for the same seed: -ffast-math breaks that"
#endif

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "ticopd/network/any_network.hpp"
#include "ticopd/network/mirror.hpp"
#include "ticopd/network/network.hpp"
#include "ticopd/network/operand.hpp"
#include "ticopd/system/widest_vectors.hpp"

namespace ticopd {

// The rows that this process hosts in CPU memory, and the verbs over them.
template <class T>
class CpuNetwork final : public AnyNetwork<T> {
 public:
  using Scalar = T;
  using Field = ticopd::Field<T>;
  using Mirror = CpuMirror<T>;

  explicit CpuNetwork(const Surroundings<T>& s);

  Field field() const {
    state_bytes_ += placement_.rows() * s_.objective.dimension() * sizeof(T);
    return Field(placement_.rows(), s_.objective.dimension());
  }
  Field start() const;

  void gradient(const Field& x, Field& g);       // over the round's mini-batch
  void full_gradient(const Field& x, Field& g);  // over all samples

  template <class F, class... Operands>
  void map(const F& formula, Operands&&... operands);

  PerAgent<T> self_weight() const { return {&this->self_weights()}; }  // w_ii
  PerAgent<T> degree() const { return {&this->degrees()}; }            // |N_i|

  // Work of a mirror that reads `v`. If gradients are asked elsewhere, it waits for the next one,
  // to be done while nobody else computes here. All other verbs do it first.
  void post(const Field& v, std::function<void()> work);
  void finish_posted();

  void begin_round(std::uint32_t round) override;
  Ledger& ledger() override;

  void evaluate_at(std::span<const T> x, std::span<double> values, Field& g) override;
  Global global_at(std::span<const T> x) override;
  std::vector<double> local_values(const Field& x) override;
  double accuracy(std::span<const T> x) override;
  void measured() override { point_gradients_ = {}; }  // they are as large as a field of the run

 private:
  using AnyNetwork<T>::s_, AnyNetwork<T>::placement_, AnyNetwork<T>::round_;
  using AnyNetwork<T>::state_bytes_;

  using Request = RowRequest<T>;  // one for each hosted row, in their order
  void evaluate(const Objective<T>& f, std::vector<Request>& requests, std::span<double> values);
  double evaluate_agent(const Objective<T>& f, std::size_t row, const Request& request) const;
  Batch batch_of(int agent) const;
  // What metrics evaluate: f over the samples of the metric scope, which are the same in each
  // round. The batches, one for each hosted agent, are what to ask it for.
  const Objective<T>& metric_objective();
  void gradient(const Field& x, Field& g, bool full);

  std::vector<std::function<void()>> posted_;  // in their order
  std::vector<const Field*> read_by_posted_;
  Field point_gradients_;  // of global_at
  std::unique_ptr<const Objective<T>> metric_part_;
  std::vector<Batch> metric_batches_;
  std::vector<T> partial_;  // for the last agents: gradients of all blocks but the first
};

template <class T>
template <class F, class... Operands>
void CpuNetwork<T>::map(const F& formula, Operands&&... operands) {
  finish_posted();
  const PhaseTimer timer(this->phases().update);
  const std::size_t cols = s_.objective.dimension(), rows = placement_.rows();
  // A task is some rows of a short range of columns: a mixture reads the rows of neighbours, which
  // are then still in a cache.
  constexpr std::size_t task_rows = 16, task_cols = 4 * map_chunk;
  const std::size_t row_blocks = (rows + task_rows - 1) / task_rows;
  const std::size_t tasks = row_blocks * ((cols + task_cols - 1) / task_cols);
  const auto task = [&](std::size_t t) {
    const std::size_t row = t % row_blocks * task_rows, end_row = std::min(rows, row + task_rows);
    const std::size_t col = t / row_blocks * task_cols, end_col = std::min(cols, col + task_cols);
    with_widest_vectors([&] {
      const F f = formula;  // a copy: what f writes cannot alias its own coefficients
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
  if (rows * cols < 32768)  // waking threads would cost more time than it saves
    for (std::size_t t = 0; t < tasks; ++t) task(t);
  else
    s_.pool.run(tasks, task);
}

extern template class CpuNetwork<float>;
extern template class CpuNetwork<double>;

static_assert(Network<CpuNetwork<float>> && Network<CpuNetwork<double>>);

}  // namespace ticopd
