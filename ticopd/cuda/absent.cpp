#include "ticopd/cuda/cuda.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace {

// A build without CUDA has every function of cuda.hpp, so that the rest of the library links.
[[noreturn]] void refuse() {
  throw UnavailableError(
      "--device cuda: this build has no CUDA part (build with -DTICOPD_CUDA=ON); run with --device "
      "cpu");
}

}  // namespace

void require_device() {
  refuse();
}

std::string device_name() {
  refuse();
}

std::unique_ptr<AnyNetwork<float>> make_network(const Surroundings<float>&, const Options&) {
  refuse();
}

RunFactory<float> make_algorithm(const AlgorithmOptions&, const Spectrum&, Warnings&,
                                 std::uint32_t) {
  refuse();
}

RunFactory<float> run_factory(const std::any&, std::string_view) {
  refuse();
}

}  // namespace ticopd::cuda
