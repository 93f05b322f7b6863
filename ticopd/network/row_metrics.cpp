#include "ticopd/network/row_metrics.hpp"

#include <algorithm>
#include <functional>

#include "ticopd/network/agent_sums.hpp"
#include "ticopd/numeric/sum.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

// Computes RowMetrics on the host. All ranks take part.
template <class T>
class Measuring {
 public:
  Measuring(AnyNetwork<T>& net, const Field<T>& x) : net_(net), s_(net.surroundings()), x_(x) {}

  RowMetrics operator()(MetricLevel level, const Field<T>* dual, const AnyMirror<T>* mirror) {
    RowMetrics m;
    m.agents.resize(static_cast<std::size_t>(s_.graph.agents()));
    const Field<T>* h = mirror != nullptr ? &mirror->own() : nullptr;
    const std::vector<double> mean =
        few_long_rows() ? rows_in_one_sweep(m, h, level) : rows_one_by_one(m, h);
    if (level == MetricLevel::local)
      m.local_losses =
          all_gather_values<double>(s_.transport, channel_metrics_scalars, net_.local_values(x_));
    if (level == MetricLevel::full) {
      local_models(m);
      model_at_mean(m, mean);
    }
    if (dual) m.dual_sum2 = squared_norm_of_mean(s_.transport, s_.pool, *dual, 1.0);
    return m;
  }

 private:
  bool asked_to_stop() const {
    return (s_.stop != nullptr && s_.stop->load()) || s_.transport.asked_to_stop();
  }

  // Every rank calls it: if one was asked to stop, all do. Otherwise the others would wait for it.
  void stop_together(bool here) {
    if (s_.stop == nullptr) return;
    if (s_.transport.size() > 1) {
      const std::vector<char> mine{static_cast<char>(here ? 1 : 0)};
      const auto all = all_gather_values<char>(s_.transport, channel_metrics_scalars, mine);
      here = std::ranges::find(all, char{1}) != all.end();
    }
    if (here) throw MeasuringStopped();
  }

  // One rank, and work for every thread in a sweep along the rows.
  bool few_long_rows() const {
    return s_.transport.size() == 1 &&
           x_.cols() >= std::size_t{8192} * static_cast<std::size_t>(s_.pool.threads());
  }

  // Reads the rows once: each stretch of coordinates goes through all sums while it is in a cache.
  // Returns the mean if the level needs it.
  std::vector<double> rows_in_one_sweep(RowMetrics& m, const Field<T>* h, MetricLevel level) {
    const std::size_t blocks = sum_blocks(x_.cols());
    std::vector<double> mean(level == MetricLevel::full ? x_.cols() : 0);
    std::vector<double> distances(x_.rows() * blocks), errors(h != nullptr ? distances.size() : 0);
    for_mean_of_rows(
        s_.pool, x_, static_cast<double>(s_.graph.agents()),
        [&](std::size_t first, std::span<const double> part) {
          if (!mean.empty()) std::ranges::copy(part, mean.data() + first);
          for (std::size_t i = 0; i < x_.rows(); ++i) {
            const T* x = x_.row(i).data() + first;
            const std::size_t to = i * blocks + first / sum_block;
            block_sums(part.size(), square_of_difference(x, part.data()), &distances[to]);
            if (h != nullptr)
              block_sums(part.size(), square_of_difference(x, h->row(i).data() + first),
                         &errors[to]);
          }
        });
    for (std::size_t i = 0; i < x_.rows(); ++i) {
      m.agents[i].distance2 = sum_of_blocks(std::span(distances).subspan(i * blocks, blocks));
      if (h != nullptr)
        m.surrogate_errors.push_back(sum_of_blocks(std::span(errors).subspan(i * blocks, blocks)));
    }
    return mean;
  }

  // Ranks pass the sum of their rows on; threads share the rows. The same bits.
  std::vector<double> rows_one_by_one(RowMetrics& m, const Field<T>* h) {
    std::vector<double> mean = sum_over_agents(s_.transport, s_.pool, x_);
    for (double& v : mean) v /= static_cast<double>(s_.graph.agents());
    const std::vector<double> distances =
        of_agents([&](std::size_t i) { return squared_distance(x_.row(i), mean.data()); });
    for (std::size_t i = 0; i < distances.size(); ++i) m.agents[i].distance2 = distances[i];
    if (h != nullptr)
      m.surrogate_errors =
          of_agents([&](std::size_t i) { return squared_distance(x_.row(i), h->row(i).data()); });
    return mean;
  }

  template <class S>
  static auto square_of_difference(const T* x, const S* y) {
    return [x, y](std::size_t k) {
      const double e = static_cast<double>(x[k]) - static_cast<double>(y[k]);
      return e * e;
    };
  }

  template <class S>
  static double squared_distance(std::span<const T> x, const S* y) {
    double sum = 0;
    with_widest_vectors([&] { sum = tree_sum(x.size(), square_of_difference(x.data(), y)); });
    return sum;
  }

  // term(i) of every agent, in agent order.
  std::vector<double> of_agents(const std::function<double(std::size_t)>& term) {
    std::vector<double> mine(net_.placement().rows());
    s_.pool.run(mine.size(), [&](std::size_t i) { mine[i] = term(i); });
    return all_gather_values<double>(s_.transport, channel_metrics_scalars, mine);
  }

  // Models are sent one row at a time, so no rank ever holds them all.
  void local_models(RowMetrics& m) {
    const std::vector<int> chosen =
        measured_agents(s_.metric_scope, s_.graph.agents(), s_.seed_of_problem());
    for (const int i : chosen) {
      stop_together(asked_to_stop());
      const int owner = net_.placement().owner(i);
      std::vector<T> row;
      if (owner == s_.transport.rank()) {
        const auto mine = x_.row(net_.placement().row(i));
        row.assign(mine.begin(), mine.end());
      }
      if (s_.transport.size() > 1)
        row = from_bytes<T>(broadcast(s_.transport, channel_metrics, owner, to_bytes<T>(row)),
                            x_.cols());
      take(net_.global_at(row), m.agents[static_cast<std::size_t>(i)]);
    }
    if (s_.objective.test_samples() == 0) return;
    std::vector<double> mine;
    for (const int i : chosen)
      if (net_.placement().owner(i) == s_.transport.rank() && !asked_to_stop())
        mine.push_back(net_.accuracy(x_.row(net_.placement().row(i))));
    stop_together(asked_to_stop());  // each rank has its own models, so it asks the others last
    const auto all = all_gather_values<double>(s_.transport, channel_metrics_scalars, mine);
    for (std::size_t c = 0; c < all.size(); ++c)
      m.agents[static_cast<std::size_t>(chosen[c])].accuracy = all[c];
  }

  void model_at_mean(RowMetrics& m, std::span<const double> mean) {
    std::vector<T> x(mean.size());
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(mean[k]);
    take(net_.global_at(x), m.mean);
    if (s_.objective.test_samples() > 0) m.mean.accuracy = net_.accuracy(x);
  }

  static void take(const Global& f, ModelMetrics& to) {
    to.loss = f.value;
    to.grad_norm2 = f.gradient_norm2;
  }

  AnyNetwork<T>& net_;
  const Surroundings<T>& s_;
  const Field<T>& x_;
};

}  // namespace

template <class T>
RowMetrics measure_rows(AnyNetwork<T>& net, MetricLevel level, const Field<T>& x,
                        const Field<T>* dual, const AnyMirror<T>* mirror) {
  return Measuring<T>(net, x)(level, dual, mirror);
}

template RowMetrics measure_rows<float>(AnyNetwork<float>&, MetricLevel, const Field<float>&,
                                        const Field<float>*, const AnyMirror<float>*);
template RowMetrics measure_rows<double>(AnyNetwork<double>&, MetricLevel, const Field<double>&,
                                         const Field<double>*, const AnyMirror<double>*);

}  // namespace ticopd
