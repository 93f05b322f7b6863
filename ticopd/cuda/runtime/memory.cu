#include <string>

#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw UnavailableError(std::string("--device cuda: could not ") + what + ": " +
                         cudaGetErrorString(status) + "; --device cpu needs no GPU");
}

std::recursive_mutex& device_mutex() {
  static auto& one = *new std::recursive_mutex;  // never destroyed: statics may hold device memory
  return one;
}

void* allocate(std::size_t bytes) {
  const std::lock_guard lock(device_mutex());
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "allocate memory on the device");
  cudaError_t cleared = cudaMemset(memory, 0, bytes);
  if (cleared == cudaSuccess) cleared = cudaDeviceSynchronize();
  if (cleared != cudaSuccess) release(memory);
  check(cleared, "clear memory on the device");
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  const std::lock_guard lock(device_mutex());
  cudaFree(memory);
}

void copy(void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(device_mutex());
  check(cudaDeviceSynchronize(), "finish what was begun");
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy");
  check(cudaDeviceSynchronize(), "copy");
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows) {
  const std::lock_guard lock(device_mutex());
  check(cudaDeviceSynchronize(), "finish what was begun");
  check(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault), "copy");
  check(cudaDeviceSynchronize(), "copy");
}

}  // namespace ticopd::cuda
