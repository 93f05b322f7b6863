#pragma once

#include <cstddef>
#include <string>

namespace ticopd {

// C = alpha op(A) op(B) + beta C, row-major, op(A) m x k and op(B) k x n; `ta`, `tb` transpose.
// With beta = 0 the old C is not read. One call runs on the calling thread alone: agents and blocks
// are what is spread over threads, so the bits never depend on their number.
template <class T>
void gemm(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
          std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc);

// The same by a portable blocked loop: every entry is summed over ascending k, multiply and add
// apart, so it has the same bits on every machine.
template <class T>
void gemm_plain(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
                std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc);

// Whether OpenBLAS can be loaded; loads it.
bool blas_is_there();

// "OpenBLAS 0.3.21 SkylakeX", or "plain" where gemm() is the portable loop. Bits differ between
// BLAS cores, so run.json keeps this name.
std::string blas_name();

}  // namespace ticopd
