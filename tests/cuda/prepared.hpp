#pragma once

#include <string>
#include <vector>

#include "places.hpp"
#include "ticopd/cuda/network.hpp"
#include "ticopd/experiment/prepare.hpp"

// The paper's problem and graph with generated digits, and its network on the device. Tests make
// the network themselves, since a run made by `prepare` does not expose its mirrors.
namespace ticopd::cuda {

inline Prepared<float> prepared(std::uint32_t rounds, ticopd::Device device,
                                const std::vector<std::string>& codec = {}) {
  const std::string count = std::to_string(rounds);
  std::vector<std::string> set{"problem.data=\"digits\"", "problem.samples=1000",
                               "iterations=" + count, "log.every=" + count};
  set.insert(set.end(), codec.begin(), codec.end());
  const Config config = Config::read(places::tree() + "/experiments/mnist_ring10.toml", set);
  return prepare<float>(config, {.threads = 2, .offline = true, .device = device});
}

struct PreparedNetwork {
  explicit PreparedNetwork(const Prepared<float>& p)
      : setup(p.setup),
        net({.graph = setup.graph,
             .objective = *setup.objective,
             .codec = *setup.codec,
             .transport = alone,
             .pool = pool,
             .weights = setup.weights,
             .seed = setup.seed},
            setup.execution.cuda) {}

  Setup<float> setup;  // the network refers to it
  Alone alone;
  Pool pool{2, false};
  CudaNetwork net;
};

}  // namespace ticopd::cuda
