#include "ticopd/experiment/stability_limits.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/algorithms/registry.hpp"

namespace ticopd {

Analysis::Steps configured_steps(const Config& config, double lambda_max) {
  const AlgorithmOptions options = configured_options(config);
  const auto value = [&](const std::string& name, double otherwise) {
    const auto found = options.parameters.find(name);
    return found == options.parameters.end() ? otherwise : found->second(1);
  };
  Analysis::Steps p{};
  p.alpha = value("alpha", NAN);
  p.theta = value("theta", NAN);
  p.eta = value("eta", NAN);
  p.beta = value("beta", 1 - p.alpha * p.theta * lambda_max);
  p.gamma = value("gamma", 1);
  p.constant = true;
  // A schedule counts as constant if it has the same value at these rounds.
  for (const auto& [name, schedule] : options.parameters)
    for (const std::uint32_t later : {2u, 1000u, 1000000u})
      p.constant = p.constant && schedule(later) == schedule(1);
  return p;
}

std::vector<Analysis::Limit> stability_limits(const Analysis& s) {
  const Analysis::Steps& p = s.steps.value();
  std::vector<Analysis::Limit> all;
  const auto add = [&](std::string what, std::string why, double value, double bound) {
    all.push_back({std::move(what), std::move(why), value, bound, value <= bound});
  };
  add("alpha theta lambda_max", "beta >= 0", p.alpha * p.theta * s.rho_1, 1);
  add("alpha L of f", "gradient descent of f", p.alpha * s.L_of_f, 2);
  add("alpha L", "gradient descent of every f_i", p.alpha * s.L, 2);
  add("eta / theta", "the dual slower than the penalty", p.eta / p.theta, 1);
  add("alpha (L + (theta - eta/2) lambda_max)", "the steepest mode",
      p.alpha * (s.L + (p.theta - p.eta / 2) * s.rho_1), 2);
  return all;
}

std::string beyond_theorem(const LinkSchedule& links, const ChannelNoise& noise,
                           std::size_t batch) {
  if (links.varies()) return "Theorem 1 assumes one graph, but here links come and go";
  if (noise.any()) return "Theorem 1 assumes exact channels, but network.noise disturbs them";
  if (batch > 0) return "Theorem 1 assumes exact gradients, but problem.batch samples them";
  return {};
}

std::string why_no_theorem(const Analysis& s) {
  if (!s.beyond.empty()) return s.beyond;
  if (s.agents < 2) return "a single agent has no neighbour to agree with";
  if (s.delta_bound) return {};
  std::string why = fmt::format("{}{} does not contract: E||Q(v) - v||^2 <= {:.3g} ||v||^2{}",
                                s.gain == 1 ? "" : fmt::format("{:g} Q with ", s.gain), s.codec,
                                s.bound.relative, s.bound.absolute > 0 ? " + a constant" : "");
  if (const double gain = largest_gain(s.bound); gain > 0)
    why += fmt::format(
        "; it is unbiased, so a smaller algorithm.gamma averages it: below {:.3g} gamma Q "
        "contracts, best at {:.3g}",
        gain, gain / 2);
  return why;
}

}  // namespace ticopd
