#pragma once

#include "ticopd/cuda/general/blas.hpp"

// Integer products on the tensor cores of sm_90a. cuBLASLt has integer products only for the tensor
// cores of an older generation.
namespace ticopd::cuda::general {

// True if this shape can be multiplied: everything is a multiple of 16 bytes.
bool int8_fits(const ProductShape& shape);

// c = a b, as in Product; `early` as in Moment. Returns false if the launch fails.
bool multiply_int8(cudaStream_t stream, const ProductShape& shape, const void* a, const void* b,
                   void* c, bool early);

}  // namespace ticopd::cuda::general
