#include "ticopd/experiment/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ticopd/network/agent_sums.hpp"
#include "ticopd/network/sum.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {

const std::string_view metrics_header =
    "iteration,bits_paper,bits_payload,bits_link,loss_max,grad_norm2_max,consensus,accuracy_min,"
    "loss_mean,grad_norm2_mean,accuracy_mean,surrogate_error,dual_sum,seconds";
const std::string_view lyapunov_column = ",lyapunov";

std::string to_csv(const Metrics& m) {
  const auto number = [](double v) {
    return std::isnan(v) ? std::string("nan") : fmt::format("{}", v);
  };
  const auto cell = [&](const std::optional<double>& v) { return v ? number(*v) : std::string(); };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f}", m.iteration,
                     number(m.bits_paper), number(m.bits_payload), number(m.bits_link),
                     number(m.loss_max), number(m.grad_norm2_max), number(m.consensus),
                     cell(m.accuracy_min), number(m.loss_mean), number(m.grad_norm2_mean),
                     cell(m.accuracy_mean), cell(m.surrogate_error), cell(m.dual_sum), m.seconds) +
         (m.lyapunov ? "," + number(*m.lyapunov) : std::string());
}

std::optional<double> value_of(const Metrics& m, std::string_view column) {
  const std::pair<std::string_view, std::optional<double>> columns[] = {
      {"iteration", m.iteration},         {"bits_paper", m.bits_paper},
      {"bits_payload", m.bits_payload},   {"bits_link", m.bits_link},
      {"loss_max", m.loss_max},           {"grad_norm2_max", m.grad_norm2_max},
      {"consensus", m.consensus},         {"accuracy_min", m.accuracy_min},
      {"loss_mean", m.loss_mean},         {"grad_norm2_mean", m.grad_norm2_mean},
      {"accuracy_mean", m.accuracy_mean}, {"surrogate_error", m.surrogate_error},
      {"dual_sum", m.dual_sum},           {"seconds", m.seconds},
      {"lyapunov", m.lyapunov},
  };
  for (const auto& [name, value] : columns)
    if (name == column) return value;
  return std::nullopt;
}

namespace {

double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}  // NaN wins

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

template <class T>
class Measuring {
 public:
  Measuring(AnyNetwork<T>& net, AnyRun<T>& run)
      : net_(net), s_(net.surroundings()), x_(run.x()), n_(static_cast<double>(s_.graph.agents())) {
    run.visit(state_);
  }

  Metrics operator()() {
    Metrics m;
    bits(m);
    std::vector<double> mean = sum_over_agents(s_.transport, x_);
    for (double& v : mean) v /= n_;
    m.agents.resize(static_cast<std::size_t>(s_.graph.agents()));
    const std::vector<double> distances =
        of_agents([&](std::size_t i) { return squared_distance(x_.row(i), mean); });
    for (std::size_t i = 0; i < distances.size(); ++i) m.agents[i].distance2 = distances[i];
    m.consensus = sum(distances);
    local_models(m);
    model_at_mean(m, mean);
    if (state_.first_mirror)
      m.surrogate_error = sum(of_agents([&](std::size_t i) {
        return sum_of_squared_differences<T>(std::as_const(x_).row(i),
                                             std::as_const(state_.first_mirror->own()).row(i));
      }));
    if (state_.dual_rows)
      m.dual_sum = std::sqrt(squared_norm_of_mean(s_.transport, *state_.dual_rows, 1.0));
    return m;
  }

 private:
  struct State final : StateVisitor<T> {
    void field(std::string_view, Field<T>&) override {}
    void dual(std::string_view, Field<T>& rows) override { dual_rows = &rows; }
    void mirror(std::string_view, AnyMirror<T>& m) override {
      if (!first_mirror) first_mirror = &m;
    }
    const Field<T>* dual_rows = nullptr;
    const AnyMirror<T>* first_mirror = nullptr;
  };

  static double squared_distance(std::span<const T> x, std::span<const double> mean) {
    return tree_sum(x.size(), [&](std::size_t k) {
      const double e = static_cast<double>(x[k]) - mean[k];
      return e * e;
    });
  }

  // term(i) of every agent, in agent order
  std::vector<double> of_agents(const std::function<double(std::size_t)>& term) {
    std::vector<double> mine(net_.plan().rows());
    s_.pool.run(mine.size(), [&](std::size_t i) { mine[i] = term(i); });
    return all_gather_values<double>(s_.transport, channel_metrics_scalars, mine);
  }

  void bits(Metrics& m) {
    std::vector<double> mine;
    for (const Ledger::Agent& a : net_.ledger().agents) {
      std::uint64_t links = 0;
      for (const std::uint64_t link : a.link_bytes) links += link;
      mine.insert(mine.end(), {a.paper_bits, 8.0 * static_cast<double>(a.payload_bytes),
                               8.0 * static_cast<double>(links)});
    }
    const auto all = all_gather_values<double>(s_.transport, channel_metrics_scalars, mine);
    for (std::size_t i = 0; i < all.size(); i += 3) {
      m.bits_paper += all[i];
      m.bits_payload += all[i + 1];
      m.bits_link += all[i + 2];
    }
    for (double* total : {&m.bits_paper, &m.bits_payload, &m.bits_link}) *total /= n_;
  }

  // Models travel one row at a time: no rank ever holds them all.
  void local_models(Metrics& m) {
    for (int i = 0; i < s_.graph.agents(); ++i) {
      const int owner = net_.plan().owner(i);
      std::vector<T> row;
      if (owner == s_.transport.rank()) {
        const auto mine = x_.row(net_.plan().row(i));
        row.assign(mine.begin(), mine.end());
      }
      if (s_.transport.size() > 1)
        row = from_bytes<T>(broadcast(s_.transport, channel_metrics, owner, to_bytes<T>(row)),
                            x_.cols());
      const auto [f, g2] = net_.global_at(row);
      m.agents[static_cast<std::size_t>(i)].loss = f;
      m.agents[static_cast<std::size_t>(i)].grad_norm2 = g2;
      m.loss_max = i == 0 ? f : larger(f, m.loss_max);
      m.grad_norm2_max = i == 0 ? g2 : larger(g2, m.grad_norm2_max);
    }
    if (s_.objective.test_samples() == 0) return;
    std::vector<double> mine;
    for (std::size_t i = 0; i < net_.plan().rows(); ++i) mine.push_back(net_.accuracy(x_.row(i)));
    double worst = 1;
    const auto all = all_gather_values<double>(s_.transport, channel_metrics_scalars, mine);
    for (std::size_t i = 0; i < all.size(); ++i) {
      m.agents[i].accuracy = all[i];
      worst = std::min(worst, all[i]);
    }
    m.accuracy_min = worst;
  }

  void model_at_mean(Metrics& m, std::span<const double> mean) {
    std::vector<T> x(mean.size());
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<T>(mean[k]);
    const Global at_mean = net_.global_at(x);
    m.loss_mean = at_mean.value;
    m.grad_norm2_mean = at_mean.gradient_norm2;
    if (s_.objective.test_samples() > 0) m.accuracy_mean = net_.accuracy(x);
  }

  AnyNetwork<T>& net_;
  const Surroundings<T>& s_;
  Field<T>& x_;
  double n_;
  State state_;
};

}  // namespace

template <class T>
Metrics measure(AnyNetwork<T>& net, AnyRun<T>& run) {
  const PhaseTimer timer(net.phases().metrics);
  run.complete();
  Metrics m = Measuring<T>(net, run)();
  net.measured();
  m.iteration = net.round();
  return m;
}

template Metrics measure<float>(AnyNetwork<float>&, AnyRun<float>&);
template Metrics measure<double>(AnyNetwork<double>&, AnyRun<double>&);

}  // namespace ticopd
