#include "ticopd/run/measure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

// The larger of what was measured; NaN wins.
void raise(std::optional<double>& most, const std::optional<double>& value) {
  if (!value) return;
  if (!most || std::isnan(*value) || *value > *most) most = value;
}

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

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void take_rows(RowMetrics rows, Metrics& m) {
  for (const AgentMetrics& a : rows.agents) {
    raise(m.loss_max, a.loss);
    raise(m.grad_norm2_max, a.grad_norm2);
    m.consensus += a.distance2;
    if (a.accuracy) m.accuracy_min = std::min(m.accuracy_min.value_or(1.0), *a.accuracy);
  }
  m.loss_mean = rows.mean.loss;
  m.grad_norm2_mean = rows.mean.grad_norm2;
  m.accuracy_mean = rows.mean.accuracy;
  if (!rows.surrogate_errors.empty()) m.surrogate_error = sum(rows.surrogate_errors);
  if (rows.dual_sum2) m.dual_sum = std::sqrt(*rows.dual_sum2);
  if (!rows.local_losses.empty())
    m.loss_local = sum(rows.local_losses) / static_cast<double>(rows.local_losses.size());
  m.agents = std::move(rows.agents);
}

}  // namespace

template <class T>
Metrics measure(AnyNetwork<T>& net, AnyRun<T>& run, MetricLevel level) {
  const PhaseTimer timer(net.phases().metrics);
  run.complete();
  Metrics m;
  take_bits(net, m);
  take_rows(run.row_metrics(net, level), m);
  net.measured();
  m.iteration = net.round();
  return m;
}

template Metrics measure<float>(AnyNetwork<float>&, AnyRun<float>&, MetricLevel);
template Metrics measure<double>(AnyNetwork<double>&, AnyRun<double>&, MetricLevel);

}  // namespace ticopd
