#pragma once

#include "ticopd/cuda/general/blas.hpp"

// Products in integers by the tensor cores of sm_90a; cuBLASLt has them for those of an older
// generation only.
namespace ticopd::cuda::general {

// Whether the shape is one that can be multiplied: all is whole in 16 bytes.
bool int8_fits(const ProductShape& shape);

// c = a b, as Product has it; `early` as in Moment. False where the device refuses.
bool multiply_int8(cudaStream_t stream, const ProductShape& shape, const void* a, const void* b,
                   void* c, bool early);

}  // namespace ticopd::cuda::general
