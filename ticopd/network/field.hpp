#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace ticopd {

// Memory at a multiple of 64 bytes: a vector that crosses two cache lines costs two loads, which
// halves the speed of a sweep over long rows. Large blocks use large pages.
void* allocate_lines(std::size_t bytes);
void free_lines(void* memory);

// The allocator of Field, over allocate_lines.
template <class T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_lines(count * sizeof(T))); }
  void deallocate(T* p, std::size_t) { free_lines(p); }
  bool operator==(const LineAllocator&) const { return true; }
};

// One row of d coordinates per agent: the unit of all state.
template <class T>
class Field {
 public:
  Field() = default;
  Field(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), data_(rows * cols) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t size() const { return data_.size(); }
  std::size_t bytes() const { return data_.size() * sizeof(T); }

  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  std::span<T> row(std::size_t i) { return {data_.data() + i * cols_, cols_}; }
  std::span<const T> row(std::size_t i) const { return {data_.data() + i * cols_, cols_}; }

  void fill_rows(std::span<const T> row_of_all) {
    for (std::size_t i = 0; i < rows_; ++i) std::ranges::copy(row_of_all, row(i).begin());
  }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<T, LineAllocator<T>> data_;
};

}  // namespace ticopd
