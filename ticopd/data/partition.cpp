#include "ticopd/data/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ticopd/error.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

using Samples = std::vector<std::uint32_t>;

constexpr auto names = words_of(Partition{});
constexpr std::uint32_t attempts = 100;

// Index of the first agent without samples, or the number of agents.
std::size_t first_empty(const std::vector<Samples>& parts) {
  return static_cast<std::size_t>(
      std::find_if(parts.begin(), parts.end(), [](const Samples& p) { return p.empty(); }) -
      parts.begin());
}

void shuffle(Samples& order, Generator& random) {
  for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random.below(k)]);
}

// Slices of `order` whose sizes differ by at most one.
std::vector<Samples> slices(const Samples& order, std::size_t agents) {
  std::vector<Samples> parts(agents);
  for (std::size_t i = 0; i < agents; ++i)
    parts[i].assign(order.begin() + static_cast<std::ptrdiff_t>(i * order.size() / agents),
                    order.begin() + static_cast<std::ptrdiff_t>((i + 1) * order.size() / agents));
  return parts;
}

std::vector<Samples> by_label(std::span<const double> labels, int classes, std::size_t agents) {
  std::vector<Samples> parts(agents);
  for (std::uint32_t s = 0; s < labels.size(); ++s)
    parts[static_cast<std::size_t>(labels[s]) % agents].push_back(s);
  if (const std::size_t empty = first_empty(parts); empty < agents)
    throw ConfigError(
        fmt::format("problem.partition = \"label\": agent {} would hold no samples ({} classes "
                    "over {} agents); "
                    "lower graph.agents, or take sorted, iid or dirichlet",
                    empty, classes, agents));
  return parts;
}

std::vector<Samples> by_sorting(std::span<const double> labels, Samples order, std::size_t agents) {
  std::stable_sort(order.begin(), order.end(),
                   [labels](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
  return slices(order, agents);
}

std::vector<Samples> by_chance(Samples order, std::size_t agents, std::uint64_t seed) {
  Generator random(Noise{seed, 0, 0, stream_partition});
  shuffle(order, random);
  auto parts = slices(order, agents);
  for (Samples& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

// log of a Gamma(alpha, 1) draw. G. Marsaglia, W. Tsang, "A simple method for generating gamma
// variables", 2000; below 1 by Gamma(alpha + 1) U^(1 / alpha), which underflows unless kept as a
// log.
double log_gamma_draw(double alpha, Generator& random) {
  const double boost = alpha < 1 ? std::log(1 - random.uniform()) / alpha : 0.0;
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (std::log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * std::log(v))
      return std::log(d * v) + boost;
  }
}

std::vector<double> dirichlet_shares(std::size_t agents, double alpha, Generator& random) {
  std::vector<double> shares(agents);
  for (double& s : shares) s = log_gamma_draw(alpha, random);
  const double top = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& s : shares) sum += s = std::exp(s - top);
  for (double& s : shares) s /= sum;
  return shares;
}

std::vector<Samples> draw_dirichlet(std::vector<Samples> by_class, std::size_t agents, double alpha,
                                    Generator& random) {
  std::vector<Samples> parts(agents);
  for (Samples& members : by_class) {
    shuffle(members, random);
    const auto shares = dirichlet_shares(agents, alpha, random);
    const auto count = static_cast<double>(members.size());
    double until = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < agents; ++i) {
      until += shares[i];
      const std::size_t end =
          i + 1 == agents ? members.size()
                          : std::min(members.size(), static_cast<std::size_t>(until * count + 0.5));
      for (; at < end; ++at) parts[i].push_back(members[at]);
    }
  }
  for (Samples& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

std::vector<Samples> by_dirichlet(std::span<const double> labels, int classes, std::size_t agents,
                                  double alpha, std::uint64_t seed) {
  if (!(alpha > 0) || !std::isfinite(alpha))
    throw ConfigError(fmt::format("problem.partition_alpha = {}: must be a number above 0", alpha));
  std::vector<Samples> by_class(static_cast<std::size_t>(classes));
  for (std::uint32_t s = 0; s < labels.size(); ++s)
    by_class[static_cast<std::size_t>(labels[s])].push_back(s);
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    Generator random(Noise{seed, attempt, 0, stream_partition});
    auto parts = draw_dirichlet(by_class, agents, alpha, random);
    if (first_empty(parts) == agents) return parts;
  }
  throw ConfigError(
      fmt::format("problem.partition_alpha = {}: some of the {} agents got no samples in each of "
                  "{} draws; raise it "
                  "or lower graph.agents",
                  alpha, agents, attempts));
}

void check(std::span<const double> labels, int classes, int agents, Partition kind) {
  if (agents < 1 || labels.size() < static_cast<std::size_t>(agents))
    throw ConfigError(fmt::format(
        "graph.agents = {}: {} samples are too few to give each agent one", agents, labels.size()));
  if (labels.size() > std::numeric_limits<std::uint32_t>::max())
    throw ConfigError(fmt::format("problem.data: {} samples, allowed are 2^32 - 1", labels.size()));
  if (kind != Partition::label && kind != Partition::dirichlet) return;
  const auto name = names[static_cast<std::size_t>(kind)];
  if (classes < 1)
    throw ConfigError(fmt::format(
        "problem.partition = \"{}\": the data has targets, not classes; allowed are sorted, iid",
        name));
  for (const double label : labels)
    if (!(label >= 0 && label < classes) || label != std::floor(label))
      throw ConfigError(fmt::format("problem.partition = \"{}\": label {} is no class 0 ... {}",
                                    name, label, classes - 1));
}

}  // namespace

Partition parse_partition(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw ConfigError(not_allowed("problem.partition", name, names));
  return static_cast<Partition>(found - names.begin());
}

std::vector<Samples> partition(std::span<const double> labels, int classes, int agents,
                               Partition kind, double alpha, std::uint64_t seed) {
  check(labels, classes, agents, kind);
  const auto n = static_cast<std::size_t>(agents);
  Samples order(labels.size());
  std::iota(order.begin(), order.end(), 0u);
  switch (kind) {
    case Partition::label:
      return by_label(labels, classes, n);
    case Partition::sorted:
      return by_sorting(labels, std::move(order), n);
    case Partition::iid:
      return by_chance(std::move(order), n, seed);
    case Partition::dirichlet:
      break;
  }
  return by_dirichlet(labels, classes, n, alpha, seed);
}

}  // namespace ticopd
