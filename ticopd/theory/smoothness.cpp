#include "ticopd/theory/smoothness.hpp"

#include <atomic>
#include <cmath>
#include <limits>

#include "ticopd/numeric/noise.hpp"
#include "ticopd/numeric/sum.hpp"

namespace ticopd {
namespace {

// Evenly spread samples: shards may be sorted, so the first ones would not represent them.
Batch spread(std::size_t samples, std::size_t wanted) {
  if (wanted == 0 || wanted >= samples) return {};
  Batch batch{.full = false, .samples = {}};
  for (std::size_t s = 0; s < wanted; ++s)
    batch.samples.push_back(static_cast<std::uint32_t>(s * samples / wanted));
  return batch;
}

template <class T>
void normalize(std::span<T> v, double norm) {
  for (T& e : v) e = static_cast<T>(static_cast<double>(e) / norm);
}

}  // namespace

template <class T>
Smoothness<T>::Smoothness(const Objective<T>& objective, Pool& pool, SmoothnessOptions options)
    : objective_(objective),
      pool_(pool),
      options_(std::move(options)),
      directions_(static_cast<std::size_t>(objective.agents()), objective.dimension()) {
  const double length = std::sqrt(static_cast<double>(objective.dimension()));
  for (int i = 0; i < objective.agents(); ++i) {
    const std::size_t samples = objective.samples(i);
    batches_.push_back(spread(samples, options_.samples));
    all_ += samples;
    used_ += batches_.back().full ? samples : batches_.back().samples.size();
    Generator draw(Noise{1, 0, static_cast<std::uint32_t>(i), stream_synthetic});
    for (T& e : directions_.row(static_cast<std::size_t>(i)))
      e = static_cast<T>(draw.normal() / length);
  }
}

template <class T>
double Smoothness<T>::at(const Field<T>& x) {
  return at([&](std::size_t agent) { return x.row(agent); });
}

template <class T>
double Smoothness<T>::at(std::span<const T> x) {
  return at([x](std::size_t) { return x; });
}

template <class T>
double Smoothness<T>::at(const std::function<std::span<const T>(std::size_t)>& x) {
  const std::size_t agents = directions_.rows();
  of_agents_.assign(agents, 0);
  std::atomic<int> done = 0;
  pool_.run(agents, [&](std::size_t i) {
    of_agents_[i] = power_method(
        x(i), directions_.row(i),
        [&](std::span<const T> at, std::span<T> g) { gradient(static_cast<int>(i), at, g); });
    if (options_.on_agent) options_.on_agent(++done, static_cast<int>(agents));
  });
  double most = 0;
  for (const double value : of_agents_) most = std::isnan(value) || value > most ? value : most;
  if (most > largest_) largest_ = most;
  return most;
}

template <class T>
double Smoothness<T>::of_mean(std::span<const T> x) {
  const std::size_t agents = directions_.rows();
  if (direction_of_mean_.empty())
    direction_of_mean_.assign(directions_.row(0).begin(), directions_.row(0).end());
  Field<T> parts(agents, x.size());
  return power_method(x, direction_of_mean_, [&](std::span<const T> at, std::span<T> g) {
    pool_.run(agents, [&](std::size_t i) { gradient(static_cast<int>(i), at, parts.row(i)); });
    for (std::size_t k = 0; k < g.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < agents; ++i) sum += static_cast<double>(parts.row(i)[k]);
      g[k] = static_cast<T>(sum / static_cast<double>(agents));
    }
  });
}

// ||H v|| with ||v|| = 1 never exceeds the largest |eigenvalue|, and never falls from one step to
// the next.
template <class T>
double Smoothness<T>::power_method(std::span<const T> x, std::span<T> direction,
                                   const Gradient& gradient) const {
  const double norm = std::sqrt(sum_of_squares(x));
  // The h at which the curvature error of the difference, h^2, equals its rounding error, eps / h.
  const double h = std::cbrt(static_cast<double>(std::numeric_limits<T>::epsilon())) * (1 + norm);
  std::vector<T> point(x.size()), above(x.size()), below(x.size());
  double value = 0;
  normalize(direction, std::sqrt(sum_of_squares<T>(direction)));
  for (int k = 0; k < options_.iterations; ++k) {
    for (const double side : {h, -h}) {
      for (std::size_t j = 0; j < x.size(); ++j)
        point[j] = x[j] + static_cast<T>(side) * direction[j];
      gradient(point, side > 0 ? above : below);
    }
    for (std::size_t j = 0; j < x.size(); ++j)
      above[j] =
          static_cast<T>((static_cast<double>(above[j]) - static_cast<double>(below[j])) / (2 * h));
    const double before = value;
    value = std::sqrt(sum_of_squares<T>(above));
    if (!(value > 0) || !std::isfinite(value)) return value;
    std::ranges::copy(above, direction.begin());
    normalize(direction, value);
    if (std::abs(value - before) <= options_.tolerance * value) break;
  }
  return value;
}

template <class T>
void Smoothness<T>::gradient(int agent, std::span<const T> x, std::span<T> g) const {
  const Batch& batch = batches_[static_cast<std::size_t>(agent)];
  if (batch.full)
    objective_.gradient(agent, x, g);
  else
    objective_.evaluate(agent, 0, batch, x, g);
}

template class Smoothness<float>;
template class Smoothness<double>;

}  // namespace ticopd
