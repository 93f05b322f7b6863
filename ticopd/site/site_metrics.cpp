#include "ticopd/site/site_metrics.hpp"

#include <numeric>
#include <optional>

namespace ticopd {
namespace {

template <class T>
std::optional<double> surrogate_error(AnyRun<T>& run) {
  struct First final : StateVisitor<T> {
    void field(std::string_view, Field<T>&) override {}
    void mirror(std::string_view, AnyMirror<T>& m) override {
      if (mirror_ == nullptr) mirror_ = &m;
    }
    AnyMirror<T>* mirror_ = nullptr;
  } first;
  run.visit(first);
  if (first.mirror_ == nullptr) return std::nullopt;
  const Field<T>& x = run.x();
  const Field<T>& h = first.mirror_->own();
  double sum = 0;
  for (std::size_t row = 0; row < x.rows(); ++row)
    for (std::size_t k = 0; k < x.cols(); ++k) {
      const double apart = static_cast<double>(x.row(row)[k]) - static_cast<double>(h.row(row)[k]);
      sum += apart * apart;
    }
  return sum;
}

}  // namespace

MetricColumns site_columns() {
  MetricColumns columns = metric_columns(MetricLevel::local);
  for (MetricInfo& column : columns)
    if (column.column == "consensus")
      column.value = [](const Metrics&) { return std::optional<double>(); };
  return columns;
}

template <class T>
std::string site_metrics(AnyNetwork<T>& net, AnyRun<T>& run, bool losses, double seconds) {
  const auto rows = static_cast<double>(net.placement().rows());
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
    const std::vector<double> all = net.local_values(run.x());
    m.loss_local = std::accumulate(all.begin(), all.end(), 0.0) / rows;
  }
  m.surrogate_error = surrogate_error(run);
  net.measured();
  return to_csv(m, site_columns());
}

template std::string site_metrics(AnyNetwork<float>&, AnyRun<float>&, bool, double);
template std::string site_metrics(AnyNetwork<double>&, AnyRun<double>&, bool, double);

}  // namespace ticopd
