#pragma once

#include "ticopd/kernels/activation.hpp"
#include "ticopd/kernels/lanes.hpp"

namespace ticopd {

// The part of a perceptron between the two products with the features, on tiles whose lanes are
// samples. The kernels (features.hpp) do the large products; this is the rest, which takes as long
// as the products once those are fast.
template <class T>
struct Layers {
  // v(j, :) = phi(v(j, :) + b[j])
  void (*activate)(Activation phi, const T* b, std::size_t rows, Lanes<T> v);
  // out(r, :) + lost(r, :) = sum_k w[r * inner + k] in(k, :): out is the rounded sum, lost its
  // rounding error.
  void (*multiply)(const T* w, std::size_t rows, std::size_t inner, Lanes<const T> in, Lanes<T> out,
                   Lanes<T> lost);
  // Adds to g_w[r * inner + k] the sum over samples of delta(r, :) in(k, :).
  void (*outer)(Lanes<const T> delta, std::size_t rows, Lanes<const T> in, std::size_t inner,
                T* g_w);
  // Adds to g_b[r] the sum over samples of delta(r, :).
  void (*row_sums)(Lanes<const T> delta, std::size_t rows, T* g_b);
  // h(k, :) = phi'(z(k, :)) sum_r w[r * inner + k] delta(r, :), where h(k, :) held phi(z(k, :)).
  void (*back)(Activation phi, const T* w, std::size_t rows, std::size_t inner,
               Lanes<const T> delta, Lanes<T> h);
  // z(c, :) + lost(c, :) + b[c] are the logits of class c, labels the classes; lost may be null.
  // Leaves scale (softmax - onehot) in z and returns scale times the sum of -log softmax_y.
  //
  // On a well-fitted shard the deltas are exponentials of large differences of logits, and samples
  // of one class are so alike that their rounding errors do not cancel: logits rounded to float
  // would cost the gradient a digit. Hence the lost parts.
  double (*cross_entropy)(const T* b, std::size_t classes, const T* labels, T scale, Lanes<T> z,
                          Lanes<const T> lost);
};

// Loops in plain C++, the same bits on every machine.
template <class T>
const Layers<T>& plain_layers();

// The same in vectors, with fused multiply-add where there is one.
const Layers<float>& vector_layers();

// The layers of this process: vectors for float, unless TICOPD_KERNEL = plain.
template <class T>
const Layers<T>& layers();

// The number of samples whose label has the largest z(c, :) + b[c]; ties go to the lower class, and
// NaN never counts as right.
template <class T>
std::size_t count_correct(const T* b, std::size_t classes, const T* labels, Lanes<const T> z);

}  // namespace ticopd
