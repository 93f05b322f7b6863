#pragma once

#include <cstddef>
#include <string>

namespace ticopd {

// C = alpha op(A) op(B) + beta C, row-major, op(A) m x k and op(B) k x n; `ta`, `tb` transpose.
// With beta = 0 the old C is not read. One call runs on the calling thread alone. Threads share
// agents and blocks, not products, so the bits never depend on the number of threads.
template <class T>
void gemm(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
          std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc);

// The same by a portable blocked loop: every entry is summed over ascending k, without fused
// multiply-add, so it has the same bits on every machine.
template <class T>
void gemm_plain(bool ta, bool tb, std::size_t m, std::size_t n, std::size_t k, T alpha, const T* a,
                std::size_t lda, const T* b, std::size_t ldb, T beta, T* c, std::size_t ldc);

// From now on the first use of BLAS loads a copy of OpenBLAS for this library alone, if the machine
// allows it. NumPy and torch may have the same file loaded, or load it later: core type and number
// of threads are chosen once for each loaded library, and neither shall choose for the other.
void own_blas();

// Loads OpenBLAS; false if it cannot.
bool blas_is_there();

// "OpenBLAS 0.3.21 SkylakeX", or "plain" if gemm() is the portable loop. Bits differ between BLAS
// cores, so run.json records this name.
std::string blas_name();

}  // namespace ticopd
