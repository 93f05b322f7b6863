#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda {

// cuBLASLt, loaded when it is first needed. So a program that never multiplies on a device also
// starts and runs where the library is not installed. Throws UnavailableError if it is needed and
// missing.
class Blas {
 public:
  // Given to every product. cuBLASLt then never allocates, so products can be captured in graphs.
  // One workspace serves all products, because they run one after the other on one stream.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

  Blas();
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

 private:
  friend class Product;
  cublasLtHandle_t handle_ = nullptr;
  Buffer<std::uint8_t> workspace_;
};

// c(i, j) = sum_k a(i, k) b(k, j) for every entry of a batch, column-major as in cuBLAS; c is m x
// n. Batch strides and leading dimensions are in entries.
struct ProductShape {
  enum class Kind { int8, fp32, tf32 };  // int8: sums are int32, a is transposed

  Kind kind = Kind::fp32;
  bool a_transposed = true;  // a lies as k x m, b always as k x n
  std::size_t m = 0, n = 0, k = 0;
  std::size_t lda = 0, ldb = 0, ldc = 0;
  std::size_t batch = 1;
  std::size_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// A product. Its algorithm is chosen once, on construction. Integer sums are exact in any order, so
// the fastest of several algorithms and of our own kernel (general/int8.hpp) is found by trial.
// TICOPD_CUDA_PRODUCTS=own takes our kernel without a trial. With floats the choice would change
// bits from run to run, so the library's first choice is taken.
class Product {
 public:
  // The operands are for the trials, which overwrite c. Waits for the device.
  Product(Blas& blas, const ProductShape& shape, const void* a, const void* b, void* c);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void record(Queue& queue, const void* a, const void* b, void* c) const;

 private:
  // Empty: our own kernel.
  using Algorithm = std::optional<cublasLtMatmulAlgo_t>;
  // `early` as in Moment; kernels of cuBLASLt never start early.
  void enqueue(cudaStream_t stream, const Algorithm& algorithm, const void* a, const void* b,
               void* c, bool early) const;
  bool runs(cudaStream_t stream, const Algorithm& algorithm, const void* a, const void* b, void* c,
            bool early) const;
  std::vector<Algorithm> candidates() const;  // at least one
  void choose(const void* a, const void* b, void* c);

  Blas& blas_;
  ProductShape shape_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  Algorithm algorithm_;
};

}  // namespace ticopd::cuda
