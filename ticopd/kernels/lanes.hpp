#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace ticopd {

// A tile of samples inside a model: one row for each unit, one column for each sample. So the lanes
// of a vector are samples, and every layer, loss and derivative is written as for one sample. Rows
// have room up to a multiple of 16 columns; kernels keep zeros there.
template <class T>
struct Lanes {
  T* at;
  std::size_t stride;  // between rows
  std::size_t count;   // samples

  T* row(std::size_t unit) const { return at + unit * stride; }
  operator Lanes<const T>() const { return {at, stride, count}; }
};

inline constexpr std::size_t lane_group = 16;

constexpr std::size_t whole_groups(std::size_t count) {
  return (count + lane_group - 1) / lane_group * lane_group;
}

// The stride for `count` samples, one group more than needed: rows at a distance of a large power
// of two would all map to the same few lines of the first-level cache.
constexpr std::size_t lane_stride(std::size_t count) {
  return whole_groups(count) + lane_group;
}

// Uninitialised memory at a multiple of 64 bytes, a cache line and the widest vector.
template <class T>
class Aligned {
 public:
  Aligned() = default;
  explicit Aligned(std::size_t count)
      : memory_(static_cast<T*>(::operator new(count * sizeof(T), alignment))), count_(count) {}

  T* data() const { return memory_.get(); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t count_ = 0;
};

// A buffer of at least `count` entries that the calling thread keeps between calls, one for each
// Tag. Tiles need the same sizes again and again, and fresh pages would cost more than some of the
// arithmetic.
template <class T, class Tag>
T* scratch(std::size_t count) {
  thread_local Aligned<T> buffer;
  if (buffer.size() < count) buffer = Aligned<T>(count);
  return buffer.data();
}

}  // namespace ticopd
