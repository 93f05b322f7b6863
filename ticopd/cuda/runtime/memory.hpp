#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace ticopd::cuda {

// Throws UnavailableError, with what was tried and what CUDA says, unless `status` is a success.
void check(cudaError_t status, const char* what);

// Held while a stream is captured, and by everyone who waits for the whole device, as all functions
// below do: CUDA refuses such a wait during a capture. There is one per process, so that each
// thread may have its own network.
std::recursive_mutex& device_mutex();

// Allocates zeroed memory on the device. The need was estimated before (device.hpp). So a failure
// here is unexpected, but still an UnavailableError and no crash.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;

// Copies between host and device, in either direction. Work in our streams ends before the copy;
// later work sees it.
void copy(void* to, const void* from, std::size_t bytes);
// The same for rows of `width` bytes that lie further apart.
void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows);

// Owns an array of T on the device.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t count)
      : data_(static_cast<T*>(count > 0 ? allocate(count * sizeof(T)) : nullptr)), size_(count) {}
  explicit Buffer(std::span<const T> from) : Buffer(from.size()) { upload(from); }
  explicit Buffer(const std::vector<T>& from) : Buffer(std::span<const T>(from)) {}
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { release(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  // Both wait for the device, before and after the copy.
  void upload(std::span<const T> from) { copy(data_, from.data(), from.size_bytes()); }
  std::vector<T> download() const {
    std::vector<T> to(size_);
    copy(to.data(), data_, bytes());
    return to;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// The number of floats from one row to the next.
constexpr std::size_t padded(std::size_t floats) {
  return (floats + 127) / 128 * 128;
}

// Rows of floats, each at a multiple of 512 bytes. A stride of 0 means one row for all agents.
struct Rows {
  float* data = nullptr;
  std::size_t stride = 0;

  __host__ __device__ explicit operator bool() const { return data != nullptr; }
  __host__ __device__ float* row(std::size_t i) const { return data + i * stride; }
};

}  // namespace ticopd::cuda
