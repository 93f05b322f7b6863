#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ticopd/cuda/gradients/problem.hpp"
#include "ticopd/data/synthetic.hpp"

namespace ticopd::cuda {

// Samples like images: most pixels are background, some are set in every sample, some in none.
inline Dataset<float> speckled(std::size_t samples, std::size_t features, std::size_t classes,
                               std::mt19937& random) {
  std::vector<std::uint8_t> pixels(samples * features);
  std::vector<double> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    labels[i] = static_cast<double>(random() % classes);
    const std::size_t reach = random() % features + 1;
    for (std::size_t k = 0; k < reach; ++k) {
      const std::size_t pixel = k * 7 % features;
      if (pixel % 11 != 3 && random() % (k + 16) < 16)
        pixels[i * features + pixel] = static_cast<std::uint8_t>(random());
    }
  }
  return {samples, features, std::move(pixels), std::move(labels)};
}

inline Problem speckled_problem(std::vector<std::size_t> widths,
                                const std::vector<std::size_t>& shards) {
  std::mt19937 random(static_cast<std::uint32_t>(7 + shards.size()));
  Problem problem;
  problem.widths = std::move(widths);
  for (const std::size_t samples : shards)
    problem.shards.push_back(
        speckled(samples, problem.widths.front(), problem.widths.back(), random));
  return problem;
}

// Generated digits for ten agents, one class per agent.
inline Problem digit_problem(std::size_t samples) {
  const Dataset<float> all = digits<float>(samples, 3).train;
  Problem problem;
  problem.widths = {all.features(), 100, 10};
  for (int digit = 0; digit < 10; ++digit) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < all.samples(); ++i)
      if (all.labels()[i] == digit) own.push_back(i);
    problem.shards.push_back(all.select(own));
  }
  return problem;
}

}  // namespace ticopd::cuda
