#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace ticopd::cuda {

// UnavailableError with what was tried and what CUDA says of it.
void check(cudaError_t status, const char* what);

// Held while a stream is captured, and by who waits for the whole device, as all below do: CUDA
// refuses that while anybody captures. Of the process, so that threads may have a network each.
std::recursive_mutex& device_mutex();

// Memory of the device, zero at first. An estimate was made before (device.hpp): that it is refused
// here is a surprise, but not a crash.
void* allocate(std::size_t bytes);
void release(void* memory) noexcept;

// Between host and device, either way. What runs in a stream of ours is done before, and sees it.
void copy(void* to, const void* from, std::size_t bytes);
// The same for rows of `width` bytes that lie further apart.
void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows);

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

  // Both wait for the device, before and after.
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

// The floats from one row to the next.
constexpr std::size_t padded(std::size_t floats) {
  return (floats + 127) / 128 * 128;
}

// Rows of floats, each at a multiple of 512 bytes. A stride of 0 is one row for everyone.
struct Rows {
  float* data = nullptr;
  std::size_t stride = 0;

  __host__ __device__ explicit operator bool() const { return data != nullptr; }
  __host__ __device__ float* row(std::size_t i) const { return data + i * stride; }
};

}  // namespace ticopd::cuda
