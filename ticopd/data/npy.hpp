#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

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

// The type in the file, for choosing V.
std::string npy_type(const std::filesystem::path& file);

// A plain write to `file` (write_atomically gives it a temporary name). V is float, double or
// uint8_t.
template <class V>
void write_npy(const std::filesystem::path& file, std::span<const std::size_t> shape,
               std::span<const V> data);

}  // namespace ticopd
