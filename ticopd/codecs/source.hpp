#pragma once

#include <cstddef>
#include <span>

namespace ticopd {

// The row to encode: x itself, or x - h computed on the fly. The difference is rounded to T. So it
// has the same bits as a stored row of differences, which need not exist.
template <class T>
class Source {
 public:
  explicit Source(std::span<const T> row) : x_(row.data()), size_(row.size()) {}
  Source(std::span<const T> x, std::span<const T> h)  // of the same size
      : x_(x.data()), h_(h.data()), size_(x.size()) {}

  std::size_t size() const { return size_; }
  const T* x() const { return x_; }
  const T* h() const { return h_; }  // null: nothing is subtracted
  T operator[](std::size_t k) const { return h_ == nullptr ? x_[k] : x_[k] - h_[k]; }

  // Prefetches the row and returns at once.
  void fetch() const {
    constexpr std::size_t line = 64 / sizeof(T);
    for (std::size_t k = 0; k < size_; k += line) __builtin_prefetch(x_ + k, 0, 2);
    for (std::size_t k = 0; h_ != nullptr && k < size_; k += line) __builtin_prefetch(h_ + k, 1, 2);
  }

  Source part(std::size_t first, std::size_t count) const {
    Source some = *this;
    some.x_ += first;
    if (h_ != nullptr) some.h_ += first;
    some.size_ = count;
    return some;
  }

 private:
  const T* x_;
  const T* h_ = nullptr;
  std::size_t size_;
};

}  // namespace ticopd
