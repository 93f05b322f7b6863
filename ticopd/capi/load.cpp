#include "ticopd/kernels/gemm.hpp"

namespace ticopd {
namespace {

// A choice for later, made as the library is loaded so that no function of it can forget it.
[[maybe_unused]] const bool chosen = (own_blas(), true);

}  // namespace
}  // namespace ticopd
