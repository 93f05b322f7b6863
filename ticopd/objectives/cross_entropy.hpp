#pragma once

#include <cstddef>
#include <span>

namespace ticopd {

// scale * sum of -log softmax(z)_y over labels.size() rows of `classes` logits. The logits are
// replaced by the deltas scale * (softmax(z) - onehot(y)).
template <class T>
double cross_entropy(T* logits, std::span<const double> labels, std::size_t classes, T scale);

// Rows whose label has the largest logit; ties go to the lower class.
template <class T>
std::size_t count_correct(const T* logits, std::span<const double> labels, std::size_t classes);

}  // namespace ticopd
