#pragma once

#include <cstddef>
#include <filesystem>

#include "ticopd/data/reading.hpp"
#include "ticopd/data/table.hpp"

namespace ticopd {

// A LIBSVM file, plain or gzip: `label index:value ...` per line, indices from 1 in ascending
// order, # starts a comment. The number of features is the largest index, or `features` if that is
// more (a test file may not reach the largest index of its training file). FormatError naming file
// and line: no number, index 0, out of order, not finite.
template <class T>
Contents scan_libsvm(const std::filesystem::path& file, std::size_t features, const Wanted& wanted,
                     const Take<T>& take);
template <class T>
Dataset<T> read_libsvm(const std::filesystem::path& file, std::size_t features = 0);

// libsvm:FILE of problem.data.
template <class T>
SampleSource<T> open_libsvm(const std::filesystem::path& file, const DataOptions& options);

}  // namespace ticopd
