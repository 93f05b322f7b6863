#pragma once

#include <memory>

#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/network/field.hpp"

namespace ticopd::cuda {

// One row of d coordinates per agent, on the device. Rows begin at multiples of 512 bytes, so that
// a warp reads and writes whole cache lines.
class DeviceField {
 public:
  DeviceField() = default;
  // With a queue, its recorded work runs before the memory is freed. So a field may be destroyed
  // while recorded work still uses it.
  DeviceField(std::size_t rows, std::size_t cols, Queue* queue = nullptr)
      : rows_(rows), cols_(cols), stride_(padded(cols)), data_(rows * stride_), queue_(queue) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t bytes() const { return data_.bytes(); }
  bool empty() const { return data_.size() == 0; }
  Rows view() const { return {const_cast<float*>(data_.data()), stride_}; }

  // Copy whole fields, or one row to all rows. They wait for the device.
  void upload(const Field<float>& from) {
    copy_rows(data_.data(), stride_ * sizeof(float), from.data(), cols_ * sizeof(float),
              cols_ * sizeof(float), rows_);
  }
  void fill_rows(std::span<const float> row) {
    for (std::size_t i = 0; i < rows_; ++i)
      copy(data_.data() + i * stride_, row.data(), row.size_bytes());
  }
  void download(Field<float>& to) const {
    if (to.rows() != rows_ || to.cols() != cols_) to = Field<float>(rows_, cols_);
    copy_rows(to.data(), cols_ * sizeof(float), data_.data(), stride_ * sizeof(float),
              cols_ * sizeof(float), rows_);
  }

 private:
  std::size_t rows_ = 0, cols_ = 0, stride_ = 0;
  Buffer<float> data_;
  struct Finish {
    void operator()(Queue* queue) const noexcept { queue->finish_quietly(); }
  };
  std::unique_ptr<Queue, Finish> queue_;  // declared last, so destroyed before the memory
};

}  // namespace ticopd::cuda
