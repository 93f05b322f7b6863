#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "network/record.hpp"
#include "ticopd/cuda/cuda.hpp"

// Compares runs on the device with the same runs on the CPU.
namespace ticopd::dense {

// The same setup, on the device.
inline ticopd::Setup<float> on_device(ticopd::Setup<float> setup) {
  setup.execution.device = Device::cuda;
  return setup;
}

inline RunFactory<float> device_algorithm(std::string_view name, const Graph& graph) {
  Warnings warnings;
  return cuda::make_algorithm(options_of(name), spectrum(graph, Weights::metropolis), warnings,
                              1000);
}

// Compares all columns except bits_paper: its terms are not integers, and the device adds them in
// another order.
inline void expect_same_metrics(const Record& gpu, const Record& cpu) {
  ASSERT_EQ(gpu.metrics.size(), cpu.metrics.size());
  for (std::size_t row = 0; row < cpu.metrics.size(); ++row) {
    const auto cut = [](const std::string& line) {
      const std::size_t first = line.find(','), second = line.find(',', first + 1);
      return std::pair(std::stod(line.substr(first + 1)),
                       line.substr(0, first) + line.substr(second));
    };
    const auto [gpu_paper, gpu_rest] = cut(gpu.metrics[row]);
    const auto [cpu_paper, cpu_rest] = cut(cpu.metrics[row]);
    EXPECT_NEAR(gpu_paper, cpu_paper, 1e-12 * cpu_paper);
    EXPECT_EQ(gpu_rest, cpu_rest);
  }
}

inline void expect_same_run(const std::string& name, const ticopd::Setup<float>& setup) {
  const Record cpu = record(algorithm<float>(name, setup.graph), setup, {1, 1});
  const Record gpu = record(device_algorithm(name, setup.graph), on_device(setup), {1, 1});
  EXPECT_EQ(gpu.digest, cpu.digest);
  EXPECT_TRUE(gpu.x == cpu.x);
  expect_same_metrics(gpu, cpu);
}

}  // namespace ticopd::dense
