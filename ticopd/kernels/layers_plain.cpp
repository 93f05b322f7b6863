#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "ticopd/kernels/gemm.hpp"
#include "ticopd/kernels/kernel.hpp"
#include "ticopd/kernels/layers.hpp"

namespace ticopd {
namespace {

template <class T>
void activate_rows(Activation phi, const T* b, std::size_t rows, Lanes<T> v) {
  for (std::size_t j = 0; j < rows; ++j) {
    T* row = v.row(j);
    for (std::size_t i = 0; i < v.count; ++i) row[i] += b[j];
    activate(phi, row, v.count);
  }
}

// Short chunks are added in double.
template <class T>
void multiply(const T* w, std::size_t rows, std::size_t inner, Lanes<const T> in, Lanes<T> out,
              Lanes<T> lost) {
  constexpr std::size_t chunk = 12;
  struct Part;
  struct Sums;
  const std::size_t n = in.count;
  T* part = scratch<T, Part>(rows * n);
  double* sums = scratch<double, Sums>(rows * n);
  std::fill_n(sums, rows * n, 0.0);
  for (std::size_t k = 0; k < inner; k += chunk) {
    gemm(false, false, rows, n, std::min(chunk, inner - k), T(1), w + k, inner, in.row(k),
         in.stride, T(0), part, n);
    for (std::size_t e = 0; e < rows * n; ++e) sums[e] += static_cast<double>(part[e]);
  }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < n; ++i) {
      const double sum = sums[r * n + i];
      out.row(r)[i] = static_cast<T>(sum);
      lost.row(r)[i] = static_cast<T>(sum - static_cast<double>(out.row(r)[i]));
    }
}

template <class T>
void outer(Lanes<const T> delta, std::size_t rows, Lanes<const T> in, std::size_t inner, T* g_w) {
  gemm(false, true, rows, inner, in.count, T(1), delta.at, delta.stride, in.at, in.stride, T(1),
       g_w, inner);
}

// The sum is taken first: g_b may be much larger than one of its terms.
template <class T>
void row_sums(Lanes<const T> delta, std::size_t rows, T* g_b) {
  for (std::size_t r = 0; r < rows; ++r) {
    T sum = 0;
    for (std::size_t i = 0; i < delta.count; ++i) sum += delta.row(r)[i];
    g_b[r] += sum;
  }
}

template <class T>
void back(Activation phi, const T* w, std::size_t rows, std::size_t inner, Lanes<const T> delta,
          Lanes<T> h) {
  struct Sums;
  T* sums = scratch<T, Sums>(inner * delta.count);
  gemm(true, false, inner, delta.count, rows, T(1), w, inner, delta.at, delta.stride, T(0), sums,
       delta.count);
  for (std::size_t k = 0; k < inner; ++k) {
    T* row = sums + k * delta.count;
    times_derivative(phi, h.row(k), row, delta.count);
    for (std::size_t i = 0; i < delta.count; ++i) h.row(k)[i] = row[i];
  }
}

// The inputs of the softmax, by sample.
template <class T>
struct Tops {
  std::vector<double> value;          // the largest logit
  std::vector<std::size_t> at;        // the first class that has it
  std::vector<T> own, below, others;  // exp(z - value) of that class, of all but it, of all but y
};

template <class T>
Tops<T> tops_of(const double* logits, std::size_t n, std::size_t classes) {
  Tops<T> top{std::vector<double>(logits, logits + n), std::vector<std::size_t>(n),
              std::vector<T>(n), std::vector<T>(n), std::vector<T>(n)};
  for (std::size_t c = 1; c < classes; ++c)
    for (std::size_t i = 0; i < n; ++i)
      if (logits[c * n + i] > top.value[i]) {
        top.value[i] = logits[c * n + i];
        top.at[i] = c;
      }
  return top;
}

// exp(v) for v <= 0. The rounding error of v in T is put back as a factor of one plus that error.
template <class T>
void exponentials_of(const double* v, std::size_t n, T* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(v[i]);
  exponentials(out, n);
  for (std::size_t i = 0; i < n; ++i)
    if (v[i] > -1e30)
      out[i] += out[i] * static_cast<T>(v[i] - static_cast<double>(static_cast<T>(v[i])));
}

// The delta of the label is minus the sum of the others, never p_y - 1: on a well-fitted shard p_y
// rounds to 1 and the difference would have no correct digit. log1p for the same reason.
template <class T>
double cross_entropy(const T* b, std::size_t classes, const T* labels, T scale, Lanes<T> z,
                     Lanes<const T> lost) {
  struct Logits;
  const std::size_t n = z.count;
  double* logits = scratch<double, Logits>(classes * n);
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t i = 0; i < n; ++i)
      logits[c * n + i] = static_cast<double>(z.row(c)[i]) + static_cast<double>(b[c]) +
                          (lost.at != nullptr ? static_cast<double>(lost.row(c)[i]) : 0.0);
  Tops<T> top = tops_of<T>(logits, n, classes);
  double loss = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    loss += top.value[i] - logits[static_cast<std::size_t>(labels[i]) * n + i];
  for (std::size_t c = 0; c < classes; ++c) {
    T* row = z.row(c);
    for (std::size_t i = 0; i < n; ++i) logits[c * n + i] -= top.value[i];
    exponentials_of(logits + c * n, n, row);
    for (std::size_t i = 0; i < n; ++i) {
      (c == top.at[i] ? top.own[i] : top.below[i]) += row[i];
      if (c != static_cast<std::size_t>(labels[i])) top.others[i] += row[i];
    }
  }
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t i = 0; i < n; ++i) {
      const T factor = scale / (top.own[i] + top.below[i]);  // own is 1, or NaN
      T& entry = z.row(c)[i];
      entry = c == static_cast<std::size_t>(labels[i]) ? -(top.others[i] * factor) : entry * factor;
    }
  for (std::size_t i = 0; i < n; ++i) loss += std::log1p(static_cast<double>(top.below[i]));
  return static_cast<double>(scale) * loss;
}

}  // namespace

template <class T>
std::size_t count_correct(const T* b, std::size_t classes, const T* labels, Lanes<const T> z) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < z.count; ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const T mine = z.row(label)[i] + b[label];
    bool largest = true;  // comparisons with NaN are false, so NaN is never right
    for (std::size_t c = 0; c < classes; ++c) {
      const T other = z.row(c)[i] + b[c];
      if (c != label) largest = largest && (c < label ? other < mine : other <= mine);
    }
    right += largest;
  }
  return right;
}

template <class T>
const Layers<T>& plain_layers() {
  static constexpr Layers<T> table{activate_rows<T>, multiply<T>, outer<T>,
                                   row_sums<T>,      back<T>,     cross_entropy<T>};
  return table;
}

template <class T>
const Layers<T>& layers() {
  if constexpr (std::is_same_v<T, float>)
    if (kernel() != Kernel::plain) return vector_layers();
  return plain_layers<T>();
}

template std::size_t count_correct(const float*, std::size_t, const float*, Lanes<const float>);
template std::size_t count_correct(const double*, std::size_t, const double*, Lanes<const double>);
template const Layers<float>& plain_layers();
template const Layers<double>& plain_layers();
template const Layers<float>& layers();
template const Layers<double>& layers();

}  // namespace ticopd
