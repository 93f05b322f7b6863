#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd::bench {

// The paper's problem in a folder that bench_points fills: ten agents, a 784-100-10 sigmoid
// network, 60,000 images, one digit each.
//   images.u8, labels.u8   the shards, one after the other
//   points.f32             for each of three moments of a run, ten rows of parameters
//   gradients.f64          the gradients there, in double
//   losses.f64             the losses there, in double
// The files hold plain numbers, so that a peer in any language can compute and compare the same.
inline constexpr int agents = 10;
inline constexpr std::size_t pixels = 784;
inline constexpr std::size_t moments = 3;  // at the start, late in a run, overfit to its own shard

template <class V>
void save(const std::filesystem::path& path, const std::vector<V>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(V)));
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

template <class V>
std::vector<V> load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw std::runtime_error(path.string() + ": cannot be read (bench_points writes it)");
  std::vector<V> values(static_cast<std::size_t>(file.tellg()) / sizeof(V));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(V)));
  return values;
}

// One shard per agent.
template <class T>
std::vector<Dataset<T>> load_shards(const std::filesystem::path& folder) {
  const auto images = load<std::uint8_t>(folder / "images.u8");
  const auto labels = load<std::uint8_t>(folder / "labels.u8");
  std::vector<Dataset<T>> shards;
  std::size_t first = 0;
  for (int agent = 0; agent < agents; ++agent) {
    std::size_t last = first;
    while (last < labels.size() && labels[last] == agent) ++last;
    const auto at = [&](std::size_t k) { return images.begin() + static_cast<long>(k * pixels); };
    shards.push_back({last - first, pixels, std::vector<std::uint8_t>(at(first), at(last)),
                      std::vector<double>(last - first, static_cast<double>(agent))});
    first = last;
  }
  return shards;
}

template <class T>
std::unique_ptr<Objective<T>> load_objective(const std::filesystem::path& folder) {
  return make_objective<T>({}, load_shards<T>(folder), {}, agents);
}

// The step sizes of experiments/mnist_ring10.toml.
inline TiCoPD step_sizes() {
  return {.alpha = 0.3, .theta = 0.3333, .eta = 0.0333, .beta = 0.6};
}

}  // namespace ticopd::bench
