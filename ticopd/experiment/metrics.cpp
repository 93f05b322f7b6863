#include "ticopd/experiment/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

// sum_i rows_i over all agents of all ranks, in agent order: the partial sum goes from rank to
// rank, in pieces, so that a rank adds to one while the next rank adds to the one before. The last
// rank has it in the end; the others get an empty vector.
template <class T>
std::vector<double> sum_to_last(CpuNetwork<T>& net, const Field<T>& rows) {
  constexpr std::size_t piece = 8192;
  Transport& t = net.surroundings().transport;
  const bool last = t.rank() == t.size() - 1;
  std::vector<double> total(last ? rows.cols() : 0);
  for (std::size_t first = 0; first < rows.cols(); first += piece) {
    std::vector<double> sum(std::min(piece, rows.cols() - first), 0.0);
    if (t.rank() > 0)
      sum = from_bytes<double>(
          t.receive(t.rank() - 1, channel_metrics, sum.size() * sizeof(double)), sum.size());
    for (std::size_t i = 0; i < net.plan().rows(); ++i) {
      const T* row = rows.row(i).data() + first;
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += static_cast<double>(row[k]);
    }
    if (last)
      std::copy(sum.begin(), sum.end(), total.begin() + static_cast<std::ptrdiff_t>(first));
    else
      t.send(t.rank() + 1, channel_metrics, to_bytes<double>(sum));
  }
  return total;
}

// The same on every rank.
template <class T>
std::vector<double> sum_over_agents(CpuNetwork<T>& net, const Field<T>& rows) {
  Transport& t = net.surroundings().transport;
  std::vector<double> total = sum_to_last(net, rows);
  if (t.size() == 1) return total;
  return from_bytes<double>(broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(total)),
                            rows.cols());
}

// Of the sum, divided by n: all that is needed of a gradient.
template <class T>
double squared_norm_of_mean(CpuNetwork<T>& net, const Field<T>& rows, double n) {
  Transport& t = net.surroundings().transport;
  std::vector<double> mean = sum_to_last(net, rows);
  for (double& v : mean) v /= n;
  const double mine = sum_of_squares<double>(mean);
  if (t.size() == 1) return mine;
  const Bytes told =
      broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(std::span(&mine, 1)));
  return from_bytes<double>(told, 1)[0];
}

template <class T>
class Measuring {
 public:
  Measuring(CpuNetwork<T>& net, AnyRun<T>& run)
      : net_(net),
        s_(net.surroundings()),
        x_(run.x()),
        n_(static_cast<double>(s_.graph.agents())),
        local_gradients_(net.plan().rows(), net.surroundings().objective.dimension()) {
    run.visit(state_);
  }

  Metrics operator()() {
    Metrics m;
    bits(m);
    std::vector<double> mean = sum_over_agents(net_, x_);
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
      m.dual_sum = std::sqrt(squared_norm_of_mean(net_, *state_.dual_rows, 1.0));
    return m;
  }

 private:
  struct State final : StateVisitor<T> {
    void field(std::string_view, Field<T>&) override {}
    void dual(std::string_view, Field<T>& rows) override { dual_rows = &rows; }
    void mirror(std::string_view, CpuMirror<T>& m) override {
      if (!first_mirror) first_mirror = &m;
    }
    const Field<T>* dual_rows = nullptr;
    const CpuMirror<T>* first_mirror = nullptr;
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

  // f and ||grad f||^2 at one model that all ranks know.
  std::pair<double, double> global(std::span<const T> x) {
    std::vector<double> values(net_.plan().rows());
    net_.evaluate_at(x, values, local_gradients_);
    const double f =
        sum(all_gather_values<double>(s_.transport, channel_metrics_scalars, values)) / n_;
    return {f, squared_norm_of_mean(net_, local_gradients_, n_)};
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
      const auto [f, g2] = global(row);
      m.agents[static_cast<std::size_t>(i)].loss = f;
      m.agents[static_cast<std::size_t>(i)].grad_norm2 = g2;
      m.loss_max = i == 0 ? f : larger(f, m.loss_max);
      m.grad_norm2_max = i == 0 ? g2 : larger(g2, m.grad_norm2_max);
    }
    if (s_.objective.test_samples() == 0) return;
    std::vector<double> mine;
    for (std::size_t i = 0; i < net_.plan().rows(); ++i) mine.push_back(accuracy(x_.row(i)));
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
    std::tie(m.loss_mean, m.grad_norm2_mean) = global(x);
    if (s_.objective.test_samples() > 0) m.accuracy_mean = accuracy(x);
  }

  double accuracy(std::span<const T> x) {
    const std::size_t samples = s_.objective.test_samples();
    std::vector<std::size_t> right(s_.objective.test_blocks());
    s_.pool.run(right.size(), [&](std::size_t b) { right[b] = s_.objective.correct(b, x); });
    const std::size_t all = std::accumulate(right.begin(), right.end(), std::size_t{0});
    return static_cast<double>(all) / static_cast<double>(samples);
  }

  CpuNetwork<T>& net_;
  const Surroundings<T>& s_;
  Field<T>& x_;
  double n_;
  Field<T> local_gradients_;
  State state_;
};

}  // namespace

template <class T>
Metrics measure(CpuNetwork<T>& net, AnyRun<T>& run) {
  const PhaseTimer timer(net.phases().metrics);
  run.complete();
  Metrics m = Measuring<T>(net, run)();
  m.iteration = net.round();
  return m;
}

template Metrics measure<float>(CpuNetwork<float>&, AnyRun<float>&);
template Metrics measure<double>(CpuNetwork<double>&, AnyRun<double>&);

}  // namespace ticopd
