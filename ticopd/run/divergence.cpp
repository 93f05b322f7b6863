#include "ticopd/run/divergence.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/numeric/sum.hpp"
#include "ticopd/system/widest_vectors.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

Runaway runaway(std::string_view name, double value) {
  return {fmt::format("{} = {}", name, std::isnan(value) ? "nan" : fmt::format("{:.3g}", value))};
}

}  // namespace

std::optional<double> loss_of(const Metrics& m) {
  return m.loss_max ? m.loss_max : m.loss_local;
}

std::optional<Runaway> runaway_metric(const Metrics& m, const std::optional<double>& first_loss) {
  const double most = first_loss ? 1e9 * (1 + std::abs(*first_loss)) : INFINITY;
  // Not `value > most`: NaN is larger than nothing.
  if (const auto loss = loss_of(m); loss && !(std::isfinite(*loss) && *loss <= most))
    return runaway(m.loss_max ? "loss_max" : "loss_local", *loss);
  if (m.grad_norm2_max && !std::isfinite(*m.grad_norm2_max))
    return runaway("grad_norm2_max", *m.grad_norm2_max);
  if (!std::isfinite(m.consensus)) return runaway("consensus", m.consensus);
  return std::nullopt;
}

template <class T>
std::optional<Runaway> runaway_model(AnyNetwork<T>& net, const Field<T>& x) {
  constexpr double most = 1e30;
  std::vector<double> mine(net.placement().rows());
  net.surroundings().pool.run(mine.size(), [&](std::size_t row) {
    with_widest_vectors([&] { mine[row] = sum_of_squares<T>(x.row(row)); });
  });
  for (const double norm2 :
       all_gather_values<double>(net.surroundings().transport, channel_metrics_scalars, mine))
    if (!(norm2 < most)) return runaway("||x||^2", norm2);
  return std::nullopt;
}

template std::optional<Runaway> runaway_model(AnyNetwork<float>&, const Field<float>&);
template std::optional<Runaway> runaway_model(AnyNetwork<double>&, const Field<double>&);

}  // namespace ticopd
