#include "ticopd/site/site_metrics.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace ticopd {
namespace {

template <class T>
AnyMirror<T>* first_mirror(AnyRun<T>& run) {
  struct First final : StateVisitor<T> {
    void field(std::string_view, Field<T>&) override {}
    void mirror(std::string_view, AnyMirror<T>& m) override {
      if (mirror_ == nullptr) mirror_ = &m;
    }
    AnyMirror<T>* mirror_ = nullptr;
  } first;
  run.visit(first);
  return first.mirror_;
}

template <class T>
double distance2(std::span<const T> a, std::span<const T> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double apart = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += apart * apart;
  }
  return sum;
}

template <class T>
double surrogate_error(const Field<T>& x, const AnyMirror<T>& mirror) {
  double sum = 0;
  for (std::size_t row = 0; row < x.rows(); ++row)
    sum += distance2(x.row(row), mirror.own().row(row));
  return sum;
}

// Empty over links that come and go: an agent then knows something else of a neighbour on each.
template <class T>
std::optional<double> disagreement(const AnyNetwork<T>& net, const Field<T>& x,
                                   AnyMirror<T>& mirror) {
  if (mirror.routes().by_link()) return std::nullopt;
  const std::vector<int>& known = mirror.routes().ids();
  const Field<T>& h = mirror.rows();
  double sum = 0;
  std::size_t pairs = 0;
  for (std::size_t row = 0; row < x.rows(); ++row)
    for (const int neighbour : net.surroundings().graph.neighbours(net.placement().agent(row))) {
      const auto at = std::ranges::find(known, neighbour);
      if (at == known.end()) continue;  // a method that sends to a server alone
      sum += distance2(x.row(row), h.row(static_cast<std::size_t>(at - known.begin())));
      ++pairs;
    }
  if (pairs == 0) return std::nullopt;
  return sum / static_cast<double>(pairs);
}

}  // namespace

MetricColumns site_columns() {
  constexpr std::array<std::string_view, 1> own{"disagreement"};
  MetricColumns columns = metric_columns(MetricLevel::local, own);
  for (MetricInfo& column : columns)
    if (column.column == "consensus")
      column.value = [](const Metrics&) { return std::optional<double>(); };
  return columns;
}

template <class T>
std::string site_metrics(AnyNetwork<T>& net, AnyRun<T>& run, bool losses, double seconds) {
  const auto rows = static_cast<double>(net.placement().rows());
  const Field<T>& x = run.x();
  Metrics m;
  m.iteration = net.round();
  m.seconds = seconds;
  for (const Ledger::Agent& a : net.ledger().agents) {
    m.bits_paper += a.paper_bits / rows;
    m.bits_payload += 8.0 * static_cast<double>(a.payload_bytes) / rows;
    for (const std::uint64_t bytes : a.link_bytes)
      m.bits_link += 8.0 * static_cast<double>(bytes) / rows;
  }
  if (losses) {
    const std::vector<double> all = net.local_values(x);
    m.loss_local = std::accumulate(all.begin(), all.end(), 0.0) / rows;
  }
  if (losses && net.surroundings().objective.test_samples() > 0)
    for (std::size_t row = 0; row < x.rows(); ++row)
      m.accuracy_min = std::min(m.accuracy_min.value_or(1.0), net.accuracy(x.row(row)));
  if (AnyMirror<T>* mirror = first_mirror(run)) {
    m.surrogate_error = surrogate_error(x, *mirror);
    m.disagreement = disagreement(net, x, *mirror);
  }
  net.measured();
  return to_csv(m, site_columns());
}

template std::string site_metrics(AnyNetwork<float>&, AnyRun<float>&, bool, double);
template std::string site_metrics(AnyNetwork<double>&, AnyRun<double>&, bool, double);

}  // namespace ticopd
