#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ticopd/system/stream.hpp"

namespace ticopd {

template <class V>
struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<V> data;  // row-major
  std::string descr;    // the type in the file: <f4 <f8 <i4 <i8 |u1
};

// NumPy's .npy, header version 1 to 3, little-endian, row-major, any of the types above converted
// to V (float, double or uint8_t; the last only from |u1). FormatError naming the file for anything
// else, and for numbers that are not finite.
template <class V>
NpyArray<V> read_npy(const std::filesystem::path& file);

// The same a piece at a time: the header first, and then the values in the order of the file.
class NpyStream {
 public:
  explicit NpyStream(const std::filesystem::path& file);

  const std::vector<std::size_t>& shape() const { return shape_; }
  const std::string& descr() const { return descr_; }  // for choosing V
  std::size_t items() const { return items_; }

  // The next `count` values, in place of what `out` held.
  template <class V>
  void read(std::vector<V>& out, std::size_t count);
  void finish();  // FormatError if more values follow than the header says

 private:
  [[noreturn]] void refuse_length(std::size_t bytes) const;

  std::filesystem::path file_;
  FileStream bytes_;
  std::string descr_;
  std::vector<std::size_t> shape_;
  std::size_t item_bytes_ = 0;
  std::size_t items_ = 0;
  std::size_t taken_ = 0;
  std::string raw_;
};

// The header of such a file, for callers that write the values piece by piece.
template <class V>
std::string npy_head(std::span<const std::size_t> shape);

// A plain write to `file` (write_atomically gives it a temporary name). V is float, double or
// uint8_t.
template <class V>
void write_npy(const std::filesystem::path& file, std::span<const std::size_t> shape,
               std::span<const V> data);

}  // namespace ticopd
