#include "ticopd/data/class_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

void renumber(std::vector<double>& labels, const std::vector<double>& values,
              const std::filesystem::path& file) {
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto found = std::lower_bound(values.begin(), values.end(), labels[s]);
    if (found == values.end() || *found != labels[s])
      throw FormatError(fmt::format("{}: sample {} has label {}, which no training sample has",
                                    file.string(), s, labels[s]));
    labels[s] = static_cast<double>(found - values.begin());
  }
}

}  // namespace

std::vector<double> distinct_classes(const std::vector<double>& labels,
                                     const std::filesystem::path& file) {
  for (std::size_t s = 0; s < labels.size(); ++s)
    if (labels[s] != std::floor(labels[s]))
      throw FormatError(
          fmt::format("{}: sample {} has label {}, expected whole numbers for classes (targets of "
                      "a regression ask "
                      "for problem.objective = \"least_squares\")",
                      file.string(), s, labels[s]));
  std::vector<double> values = labels;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

int number_classes(std::vector<double>& train, const std::filesystem::path& train_file,
                   std::vector<double>& test, const std::filesystem::path& test_file) {
  const std::vector<double> values = distinct_classes(train, train_file);
  if (values.size() < 2 || values.size() > 65536)
    throw FormatError(fmt::format("{}: {} different labels, expected 2 ... 65536 classes",
                                  train_file.string(), values.size()));
  renumber(train, values, train_file);
  renumber(test, values, test_file);
  return static_cast<int>(values.size());
}

}  // namespace ticopd
