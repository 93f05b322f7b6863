#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "ticopd/data/reading.hpp"

namespace ticopd {

// An IDX file of unsigned bytes, plain or gzip: two zero bytes, the type 8, the number of
// dimensions, each dimension as a big-endian u32, then the bytes.
struct Idx {
  std::vector<std::size_t> shape;
  std::vector<std::uint8_t> data;
};

// FormatError naming the file for anything else.
Idx read_idx(const std::filesystem::path& file);

// A folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte; also as train-images.idx3-ubyte, and each with .gz. The two t10k files
// may both be missing: then there are no test samples.
template <class T>
SampleSource<T> idx_source(const std::filesystem::path& folder);
template <class T>
TrainTest<T> read_idx_folder(const std::filesystem::path& folder);

}  // namespace ticopd
