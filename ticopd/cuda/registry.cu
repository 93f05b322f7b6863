#include "ticopd/algorithms/table.hpp"
#include "ticopd/cuda/run.cuh"

namespace ticopd::cuda {
namespace {

// Empty: the parameters are of none of these algorithms.
template <class... A>
RunFactory<float> factory_among(Algorithms<A...>, const std::any& parameters) {
  RunFactory<float> made;
  const auto is = [&]<class One>(const One* params) {
    if (params != nullptr) made = device_run_factory(*params);
    return params != nullptr;
  };
  (void)(is(std::any_cast<A>(&parameters)) || ...);
  return made;
}

}  // namespace

RunFactory<float> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                                 Warnings& warnings, std::uint32_t iterations) {
  algorithm_needs(options);  // throws for an unknown name
  RunFactory<float> made;
  with_algorithm(All{}, options.name, [&]<class A>() {
    made = device_run_factory(resolved<A>(options, graph, warnings, iterations));
  });
  return made;
}

RunFactory<float> run_factory(const std::any& parameters, std::string_view name) {
  if (RunFactory<float> made = factory_among(All{}, parameters)) return made;
  throw ConfigError("Device::cuda: there is no device code for the algorithm \"" +
                    std::string(name) +
                    "\": it is not one of the library's, and its header was not compiled for "
                    "devices; allowed: Device::cpu");
}

}  // namespace ticopd::cuda
