#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "ticopd/data/class_labels.hpp"
#include "ticopd/data/reading.hpp"
#include "ticopd/error.hpp"

namespace ticopd {

// A training file and, unless `test` is empty, a test file of the same width. `reading(file)` is
// how one of them is read.
template <class T, class Read>
SampleSource<T> file_source(const std::filesystem::path& file, const std::filesystem::path& test,
                            bool regression, Read reading) {
  SampleSource<T> source{reading(file), {}, {}};
  if (!test.empty()) source.test = reading(test);
  source.reconcile = [=](Contents& train, Contents& tested) {
    if (!test.empty() && tested.features != train.features)
      throw FormatError(fmt::format("{}: {} features, the training file {} has {}", test.string(),
                                    tested.features, file.string(), train.features));
    return regression ? 0 : number_classes(train.labels, file, tested.labels, test);
  };
  return source;
}

}  // namespace ticopd
