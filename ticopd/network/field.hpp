#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace ticopd {

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
  std::vector<T> data_;
};

}  // namespace ticopd
