#include "ticopd/run/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

template <class T>
void take_bits(AnyNetwork<T>& net, Metrics& m) {
  std::vector<double> mine;
  for (const Ledger::Agent& a : net.ledger().agents) {
    std::uint64_t links = 0;
    for (const std::uint64_t link : a.link_bytes) links += link;
    mine.insert(mine.end(), {a.paper_bits, 8.0 * static_cast<double>(a.payload_bytes),
                             8.0 * static_cast<double>(links)});
  }
  const auto all =
      all_gather_values<double>(net.surroundings().transport, channel_metrics_scalars, mine);
  for (std::size_t i = 0; i < all.size(); i += 3) {
    m.bits_paper += all[i];
    m.bits_payload += all[i + 1];
    m.bits_link += all[i + 2];
  }
  for (double* total : {&m.bits_paper, &m.bits_payload, &m.bits_link})
    *total /= static_cast<double>(net.placement().agents());
}

void take_rows(RowMetrics rows, Metrics& m) {
  m.loss_max = rows.agents[0].loss;
  m.grad_norm2_max = rows.agents[0].grad_norm2;
  for (const AgentMetrics& a : rows.agents) {
    m.loss_max = larger(a.loss, m.loss_max);
    m.grad_norm2_max = larger(a.grad_norm2, m.grad_norm2_max);
    m.consensus += a.distance2;
    if (a.accuracy) m.accuracy_min = std::min(m.accuracy_min.value_or(1.0), *a.accuracy);
  }
  m.loss_mean = rows.mean.loss;
  m.grad_norm2_mean = rows.mean.grad_norm2;
  m.accuracy_mean = rows.mean.accuracy;
  if (!rows.surrogate_errors.empty())
    m.surrogate_error =
        std::accumulate(rows.surrogate_errors.begin(), rows.surrogate_errors.end(), 0.0);
  if (rows.dual_sum2) m.dual_sum = std::sqrt(*rows.dual_sum2);
  m.agents = std::move(rows.agents);
}

}  // namespace

template <class T>
Metrics measure(AnyNetwork<T>& net, AnyRun<T>& run) {
  const PhaseTimer timer(net.phases().metrics);
  run.complete();
  Metrics m;
  take_bits(net, m);
  take_rows(run.row_metrics(net), m);
  net.measured();
  m.iteration = net.round();
  return m;
}

template Metrics measure<float>(AnyNetwork<float>&, AnyRun<float>&);
template Metrics measure<double>(AnyNetwork<double>&, AnyRun<double>&);

}  // namespace ticopd
