// What the vector loops share, for one instruction set at a time. <hwy/foreach_target.h> compiles
// the files that include this once for each, hence no #pragma once.
#include <hwy/highway.h>

#include "ticopd/codecs/vector_loops.hpp"

#if defined(TICOPD_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TICOPD_VECTOR_INL
#undef TICOPD_VECTOR_INL
#else
#define TICOPD_VECTOR_INL
#endif

// True where there are no vectors: an old compiler, and a CPU without AVX2. Scalar loops run there.
#undef TICOPD_SCALAR_ONLY
#define TICOPD_SCALAR_ONLY (HWY_TARGET == HWY_SCALAR)
// Where Highway's operations cost more than the instruction that is meant, that is used directly.
#undef TICOPD_AVX512
#define TICOPD_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Reference = ScalarLoops<float>;  // also for what is left at the end of a loop
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
constexpr std::size_t lanes = hn::MaxLanes(DF());

// v[k], v[k + 1], ...: the one place where a difference is taken.
template <class D>
HWY_INLINE hn::Vec<D> coordinates(D d, Source<float> v, std::size_t k) {
  const auto x = hn::LoadU(d, v.x() + k);
  return v.h() == nullptr ? x : hn::Sub(x, hn::LoadU(d, v.h() + k));
}

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#endif
