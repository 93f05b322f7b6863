#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cuda/device.hpp"
#include "places.hpp"
#include "ticopd/experiment/prepare.hpp"

// Whole experiments, as the program runs them, on the GPU or on the CPU.
namespace ticopd {

struct Curve {
  std::vector<Metrics> rows;
  Solution<float> solution;
};

inline std::string curve_rounds() {
  return briefly() ? "10" : "200";
}

inline Curve curve(const std::vector<std::string>& set, Device device) {
  std::vector<std::string> all{"problem.data=\"digits\"",
                               briefly() ? "problem.samples=300" : "problem.samples=3000",
                               "iterations=" + curve_rounds(), "log.every=10"};
  all.insert(all.end(), set.begin(), set.end());
  const Config config = Config::read(places::tree() + "/experiments/mnist_ring10.toml", all);
  Prepared<float> p = prepare<float>(config, {.threads = 2, .offline = true, .device = device});
  Curve c;
  p.setup.watch.on_log = [&](const Metrics& m) { c.rows.push_back(m); };
  c.solution = solve(p.algorithm, p.setup);
  return c;
}

// The largest relative difference of the losses up to round `until`.
inline double apart(const Curve& a, const Curve& b, std::uint32_t until) {
  double most = 0;
  for (std::size_t i = 0; i < a.rows.size() && a.rows[i].iteration <= until; ++i)
    most = std::max(most, std::abs(*a.rows[i].loss_max / *b.rows[i].loss_max - 1));
  return most;
}

}  // namespace ticopd
