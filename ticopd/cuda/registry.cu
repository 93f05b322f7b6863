#include "ticopd/algorithms/table.hpp"
#include "ticopd/cuda/run.cuh"

namespace ticopd::cuda {

RunFactory<float> make_algorithm(const AlgorithmOptions& options, const Spectrum& graph,
                                 Warnings& warnings, std::uint32_t iterations) {
  algorithm_needs(options);  // refuses what is unknown
  RunFactory<float> made;
  with_algorithm(All{}, options.name, [&]<class A>() {
    made = device_run_factory(resolved<A>(options, graph, warnings, iterations));
  });
  return made;
}

}  // namespace ticopd::cuda
