#include <algorithm>
#include <vector>

#include "ticopd/kernels/clones.hpp"
#include "ticopd/kernels/gemm.hpp"

namespace ticopd {
namespace {

// Copies a panel of op(A) and one of op(B), so that the innermost loop reads both in order,
// transposed or not. A block of C of this size stays in registers meanwhile.
constexpr std::size_t rows = 4;
constexpr std::size_t columns = 32;
// The terms of a panel. Its sums are added to C as one number: longer plain sums would lose digits
// of a gradient.
constexpr std::size_t depth = 96;

// sum[i][j] = sum_p a[p][i] b[p][j] over ascending p.
template <class T>
inline __attribute__((always_inline)) void multiply(std::size_t count, const T* __restrict a,
                                                    const T* __restrict b, T* __restrict sum) {
  T s[rows][columns] = {};
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) s[i][j] += a[p * rows + i] * b[p * columns + j];
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) sum[i * columns + j] = s[i][j];
}

TICOPD_CLONES void multiply_panels(std::size_t count, const float* a, const float* b, float* sum) {
  multiply(count, a, b, sum);
}
TICOPD_CLONES void multiply_panels(std::size_t count, const double* a, const double* b,
                                   double* sum) {
  multiply(count, a, b, sum);
}

// A matrix with two strides; swapping them transposes it.
template <class T>
struct View {
  const T* at;
  std::size_t row;
  std::size_t column;
  T operator()(std::size_t i, std::size_t j) const { return at[i * row + j * column]; }
};

template <class T>
void scale_rows(std::size_t m, std::size_t n, T beta, T* c, std::size_t ldc) {
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      c[i * ldc + j] = beta == T(0) ? T(0) : beta * c[i * ldc + j];
}

}  // namespace

template <class T>
void gemm_plain(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
                std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc) {
  if (beta != T(1)) scale_rows(m, n, beta, c, ldc);
  const View<T> left{a, ta ? 1 : lda, ta ? lda : 1};
  const View<T> right{b, tb ? 1 : ldb, tb ? ldb : 1};
  const std::size_t strips = (m + rows - 1) / rows;
  thread_local std::vector<T> left_panels, right_panel;
  left_panels.resize(strips * rows * depth);
  right_panel.resize(columns * depth);
  T sum[rows * columns];

  for (std::size_t p0 = 0; p0 < k; p0 += depth) {
    const std::size_t count = std::min(depth, k - p0);
    // Panels past the edge are filled with zeros, whose sums are never stored.
    for (std::size_t i = 0; i < strips * rows; ++i)
      for (std::size_t p = 0; p < count; ++p)
        left_panels[(i / rows * depth + p) * rows + i % rows] = i < m ? left(i, p0 + p) : T(0);
    for (std::size_t j0 = 0; j0 < n; j0 += columns) {
      const std::size_t width = std::min(columns, n - j0);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t j = 0; j < columns; ++j)
          right_panel[p * columns + j] = j < width ? right(p0 + p, j0 + j) : T(0);
      for (std::size_t s = 0; s < strips; ++s) {
        multiply_panels(count, &left_panels[s * rows * depth], right_panel.data(), sum);
        const std::size_t height = std::min(rows, m - s * rows);
        for (std::size_t i = 0; i < height; ++i)
          for (std::size_t j = 0; j < width; ++j)
            c[(s * rows + i) * ldc + j0 + j] += alpha * sum[i * columns + j];
      }
    }
  }
}

template void gemm_plain(bool, bool, std::size_t, std::size_t, std::size_t, float, const float*,
                         std::size_t, const float*, std::size_t, float, float*, std::size_t);
template void gemm_plain(bool, bool, std::size_t, std::size_t, std::size_t, double, const double*,
                         std::size_t, const double*, std::size_t, double, double*, std::size_t);

}  // namespace ticopd
