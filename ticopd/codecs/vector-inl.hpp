// Definitions that the vector loops share. <hwy/foreach_target.h> compiles the files that include
// this one once per instruction set, hence no #pragma once.
#include <hwy/highway.h>

#include "ticopd/codecs/vector_loops.hpp"

#if defined(TICOPD_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TICOPD_VECTOR_INL
#undef TICOPD_VECTOR_INL
#else
#define TICOPD_VECTOR_INL
#endif

// True on targets without vectors (an old compiler, a CPU without AVX2). They run the scalar loops.
#undef TICOPD_SCALAR_ONLY
#define TICOPD_SCALAR_ONLY (HWY_TARGET == HWY_SCALAR)
// AVX-512 targets use intrinsics where Highway's operation costs more than the one instruction.
#undef TICOPD_AVX512
#define TICOPD_AVX512 (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3)

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Reference = ScalarLoops<float>;  // also for the remainder of a loop
using DF = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<DF>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
constexpr std::size_t lanes = hn::MaxLanes(DF());

// v[k], v[k + 1], ...: the only place where the vector loops subtract h.
template <class D>
HWY_INLINE hn::Vec<D> coordinates(D d, Source<float> v, std::size_t k) {
  const auto x = hn::LoadU(d, v.x() + k);
  return v.h() == nullptr ? x : hn::Sub(x, hn::LoadU(d, v.h() + k));
}

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#endif
