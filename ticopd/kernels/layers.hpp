#pragma once

#include "ticopd/kernels/activation.hpp"
#include "ticopd/kernels/lanes.hpp"

namespace ticopd {

// What a perceptron does between the two products with the features, on tiles of samples that are
// lanes. Everything with hundreds of thousands of terms is a kernel's (features.hpp); this is the
// rest, and it takes as long as the products once those are fast.
template <class T>
struct Layers {
  // v(j, :) = phi(v(j, :) + b[j])
  void (*activate)(Activation phi, const T* b, std::size_t rows, Lanes<T> v);
  // out(r, :) + lost(r, :) = sum_k w[r * inner + k] in(k, :), out the rounded sum, and lost what
  // the rounding took.
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
  // On a shard that is fitted well the deltas are exponentials of large differences of logits, and
  // samples of one class are so alike that roundings do not cancel between them: logits that were
  // summed and rounded in float cost the gradient a digit. Hence the lost parts.
  double (*cross_entropy)(const T* b, std::size_t classes, const T* labels, T scale, Lanes<T> z,
                          Lanes<const T> lost);
};

// Loops in plain C++, the same bits on every machine.
template <class T>
const Layers<T>& plain_layers();

// The same in vectors, with fused multiply-add where there is one.
const Layers<float>& vector_layers();

// Those of this process: vectors for float, unless TICOPD_KERNEL = plain.
template <class T>
const Layers<T>& layers();

// Samples whose label has the largest z(c, :) + b[c]; ties go to the lower class, NaN is never
// right.
template <class T>
std::size_t count_correct(const T* b, std::size_t classes, const T* labels, Lanes<const T> z);

}  // namespace ticopd
