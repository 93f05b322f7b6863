#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ticopd/algorithms/any_run.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/cuda/gradients/problem.hpp"
#include "ticopd/network/any_network.hpp"

// Everything that the rest of the library knows of the CUDA part. It exists in every build: without
// CUDA (absent.cpp) all functions throw UnavailableError.
namespace ticopd::cuda {

// Throws UnavailableError with one line that says what is missing: this build's CUDA part, a GPU, a
// driver that is new enough, or kernels for this kind of GPU.
void require_device();

std::string device_name();  // for run.json

struct Options {
  // Null: the objective's own (Objective::sample_problem); without one the host computes.
  std::shared_ptr<const Problem> problem = {};
  bool host_gradient = false;  // gradients are the host's all the same
  bool tf32 = false;           // products of float features in TF32
};

// Makes the network whose rows all lie on the device.
std::unique_ptr<AnyNetwork<float>> make_network(const Surroundings<float>& surroundings,
                                                const Options& options);

// Like ticopd::make_algorithm, for that network. Making a run throws UnavailableError if it needs
// more memory than the device has free. This is checked before anything is allocated.
RunFactory<float> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                                 Warnings& warnings, std::uint32_t iterations);

// The same for parameters given as the algorithm's struct. ConfigError for an algorithm that is not
// in the library's table: its header was not compiled for devices.
RunFactory<float> run_factory(const std::any& parameters, std::string_view name);

}  // namespace ticopd::cuda
