#pragma once

#include <filesystem>

#include "ticopd/data/reading.hpp"
#include "ticopd/data/table.hpp"

namespace ticopd {

// Numbers between commas, plain or gzip, one sample a line. A first line without numbers is a
// header. `label_column` counts from 0, or from the end if it is negative. FormatError naming file
// and line: an empty or ragged line's field, not a number, not finite.
template <class T>
Contents scan_csv(const std::filesystem::path& file, int label_column, const Wanted& wanted,
                  const Take<T>& take);
template <class T>
Dataset<T> read_csv(const std::filesystem::path& file, int label_column = 0);

// csv:FILE of problem.data.
template <class T>
SampleSource<T> open_csv(const std::filesystem::path& file, const DataOptions& options);

}  // namespace ticopd
