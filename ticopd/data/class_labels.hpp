#pragma once

#include <filesystem>
#include <vector>

namespace ticopd {

// The labels that occur, ascending. FormatError naming the file for one that is no whole number.
std::vector<double> distinct_classes(const std::vector<double>& labels,
                                     const std::filesystem::path& file);

// Replaces the labels by class numbers 0, 1, ... in ascending order of the training labels' values
// and returns how many classes there are. FormatError naming the file for a label that is not a
// whole number, and for a test label that no training sample has.
int number_classes(std::vector<double>& train, const std::filesystem::path& train_file,
                   std::vector<double>& test, const std::filesystem::path& test_file);

}  // namespace ticopd
