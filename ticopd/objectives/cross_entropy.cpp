#include "ticopd/objectives/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "ticopd/objectives/activation.hpp"

namespace ticopd {
namespace {

// One row of exp(z - max z) becomes its deltas; returns log(sum of the row).
// The entry of the label is minus the sum of the others, never p_y - 1: on a shard that is fitted
// well p_y rounds to 1 and the difference would keep no digit. log1p for the same reason.
template <class T>
double to_deltas(T* row, std::size_t classes, std::size_t label, T scale) {
  const std::size_t top = static_cast<std::size_t>(std::max_element(row, row + classes) - row);
  T below_top = 0;  // the top entry is exactly 1
  T others = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    if (c != top) below_top += row[c];
    if (c != label) others += row[c];
  }
  const T factor = scale / (row[top] + below_top);
  for (std::size_t c = 0; c < classes; ++c) row[c] *= factor;
  row[label] = -(others * factor);
  return std::log1p(static_cast<double>(below_top));
}

}  // namespace

template <class T>
double cross_entropy(T* logits, std::span<const double> labels, std::size_t classes, T scale) {
  const std::size_t count = labels.size();
  double loss = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    T* row = logits + i * classes;
    const T top = *std::max_element(row, row + classes);
    loss +=
        static_cast<double>(top) - static_cast<double>(row[static_cast<std::size_t>(labels[i])]);
    for (std::size_t c = 0; c < classes; ++c) row[c] -= top;
  }
  exponentials(logits, count * classes);  // all rows at once, for the vector units
  for (std::size_t i = 0; i < count; ++i)
    loss += to_deltas(logits + i * classes, classes, static_cast<std::size_t>(labels[i]), scale);
  return static_cast<double>(scale) * loss;
}

template <class T>
std::size_t count_correct(const T* logits, std::span<const double> labels, std::size_t classes) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const T* row = logits + i * classes;
    const std::size_t label = static_cast<std::size_t>(labels[i]);
    bool largest = true;  // comparisons with NaN are false, so NaN is never right
    for (std::size_t c = 0; c < classes; ++c)
      if (c != label) largest = largest && (c < label ? row[c] < row[label] : row[c] <= row[label]);
    right += largest;
  }
  return right;
}

template double cross_entropy(float*, std::span<const double>, std::size_t, float);
template double cross_entropy(double*, std::span<const double>, std::size_t, double);
template std::size_t count_correct(const float*, std::span<const double>, std::size_t);
template std::size_t count_correct(const double*, std::span<const double>, std::size_t);

}  // namespace ticopd
