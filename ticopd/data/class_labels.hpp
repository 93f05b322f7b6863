#pragma once

#include <filesystem>

#include "ticopd/data/dataset.hpp"

namespace ticopd {

// Replaces the labels by class numbers 0, 1, ... in ascending order of the training labels' values
// and sets `classes`. FormatError naming the file for a label that is no whole number, and for a
// test label that no training sample has.
template <class T>
void number_classes(TrainTest<T>& data, const std::filesystem::path& train_file,
                    const std::filesystem::path& test_file);

}  // namespace ticopd
