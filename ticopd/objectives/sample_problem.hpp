#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/kernels/activation.hpp"

namespace ticopd {

// An objective over samples as data, for a device that has kernels of its own (samples.hpp has the
// rest):
//   f_i(x) = weight_i mean over agent i's samples of the loss + (l2 / 2) ||x||^2.
struct SampleProblem {
  enum class Loss { cross_entropy, logistic, least_squares };

  Loss loss = Loss::cross_entropy;
  Activation phi = Activation::sigmoid;
  // Cross-entropy: features, hidden layers, classes; x = (W1, b1, W2, b2, ...), W_l out x in.
  // The other losses: features and 1; x = W, without bias.
  std::vector<std::size_t> widths = {};
  std::vector<Dataset<float>> shards = {};  // of every agent
  Dataset<float> test = {};                 // may have no samples
  double l2 = 0;
  bool weight_by_sample = false;  // weight_i = n m_i / m instead of 1
  std::vector<std::size_t> held =
      {};  // m_i if `shards` has a part of an agent's samples; else empty

  std::size_t agents() const { return shards.size(); }
  std::size_t samples(std::size_t agent) const {
    return held.empty() ? shards[agent].samples() : held[agent];
  }
  double weight(std::size_t agent) const {
    if (!weight_by_sample) return 1.0;
    std::size_t all = 0;
    for (std::size_t i = 0; i < agents(); ++i) all += samples(i);
    return static_cast<double>(agents()) * static_cast<double>(samples(agent)) /
           static_cast<double>(all);
  }
};

}  // namespace ticopd
