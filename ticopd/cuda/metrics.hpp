#pragma once

#include <cstddef>
#include <cstdint>

#include "ticopd/cuda/field.hpp"
#include "ticopd/cuda/gradients/problem.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/network/any_network.hpp"

namespace ticopd::cuda {

// The samples that metrics look at (log.samples), without the test set.
Problem measured_problem(const Surroundings<float>& surroundings, const Problem& all);

// Device memory for metrics, made when they first need it and then kept. The models are those of
// the agents and, as the last one, their mean.
class MetricsRoom {
 public:
  MetricsRoom(std::size_t agents, std::size_t d);
  static std::size_t bytes(std::size_t agents, std::size_t d);

  // Sums over coordinates, and the index of each.
  std::size_t distance(std::size_t agent) const { return agent; }
  std::size_t surrogate_error(std::size_t agent) const { return agents_ + agent; }
  std::size_t dual_sum() const { return 2 * agents_; }
  std::size_t gradient(std::size_t model) const { return 2 * agents_ + 1 + model; }
  static std::size_t sums_of(std::size_t agents) { return 3 * agents + 2; }
  double* parts_of(std::size_t sum) { return parts.data() + sum * blocks; }
  // After those: sums over agents.
  std::size_t loss(std::size_t model) const { return sums_of(agents_) + model; }

  Rows model() const { return {x.view().data, 0}; }

  std::size_t blocks;     // of 128 coordinates
  DeviceField x;          // one model that all agents evaluate,
  DeviceField gradients;  // and their gradients at it
  Buffer<double> values;
  Buffer<double> mean;          // of the agents' models
  Buffer<double> parts;         // by sum and block
  Buffer<double> sums;          // all of the above
  Buffer<std::uint32_t> right;  // test samples classified correctly, by model

 private:
  std::size_t agents_;
};

}  // namespace ticopd::cuda
