// Functions of one vector of floats, for one instruction set at a time (included by
// layers_vector.cpp). NaN stays NaN in all of them.
#include "ticopd/kernels/lanes.hpp"

#if defined(TICOPD_VECTOR_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TICOPD_VECTOR_MATH_INL
#undef TICOPD_VECTOR_MATH_INL
#else
#define TICOPD_VECTOR_MATH_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, lane_group>;
using V = hn::Vec<D>;
constexpr D d;
constexpr std::size_t width = hn::MaxLanes(D());

// exp(x) = 2^n exp(r), |r| <= ln(2)/2; `rest` is exp(r) - 1 by its Taylor polynomial, whose next
// term is below 6e-9. Comparisons are written so that NaN stays NaN.
struct Reduced {
  hn::Vec<hn::RebindToSigned<D>> n;
  V rest;
};

HWY_INLINE Reduced reduce(V x) {
  const hn::RebindToSigned<D> di;
  const V magic = hn::Set(d, 12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::MulAdd(hn::Set(d, 1.0f / 5040), r, hn::Set(d, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::MulAdd(p, hn::Mul(r, r), r);
  return {hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)), p};
}

HWY_INLINE V power_of_two(hn::Vec<hn::RebindToSigned<D>> n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

HWY_INLINE V between(V x, float low, float high) {
  x = hn::IfThenElse(hn::Lt(x, hn::Set(d, low)), hn::Set(d, low), x);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, high)), hn::Set(d, high), x);
}

// a + b = the rounded sum, which is returned, + low, exactly (Knuth's two-sum).
HWY_INLINE V exact_sum(V a, V b, V& low) {
  const V sum = hn::Add(a, b);
  const V from_b = hn::Sub(sum, a);
  low = hn::Add(hn::Sub(a, hn::Sub(sum, from_b)), hn::Sub(b, from_b));
  return sum;
}

// For x <= 0, through the denormals down to 0.
HWY_INLINE V exp_of_negative(V x) {
  const Reduced e = reduce(between(x, -104.0f, 0.0f));
  const auto half = hn::ShiftRight<1>(e.n);  // 2^n itself may be no normal float
  const V scaled = hn::Mul(hn::Add(hn::Set(d, 1.0f), e.rest), power_of_two(half));
  return hn::Mul(scaled, power_of_two(hn::Sub(e.n, half)));
}

// 1 / (1 + e) or e / (1 + e) with e = exp(-|x|) <= 1. The rounding error of 1 + e is added back to
// the quotient, so the output is rounded almost only once; logits are sums of a hundred such
// outputs.
HWY_INLINE V sigmoid(V x) {
  const Reduced e = reduce(between(hn::Neg(hn::Abs(x)), -87.0f, 0.0f));
  const V one = hn::Set(d, 1.0f);
  const V exponential = hn::Mul(hn::Add(one, e.rest), power_of_two(e.n));
  const V sum = hn::Add(one, exponential);
  const V lost = hn::Sub(exponential, hn::Sub(sum, one));
  V quotient = hn::Div(one, sum);
  quotient = hn::NegMulAdd(hn::Mul(quotient, quotient), lost, quotient);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(exponential, quotient), quotient);
}

// tanh |x| = E / (E + 2) with E = exp(2|x|) - 1: right to the last digits at 0.
HWY_INLINE V tangent(V x) {
  const V a = between(hn::Abs(x), 0.0f, 10.0f);  // there tanh is 1
  const Reduced e = reduce(hn::Add(a, a));
  const V scale = power_of_two(e.n);
  const V big = hn::MulAdd(scale, e.rest, hn::Sub(scale, hn::Set(d, 1.0f)));
  return hn::CopySign(hn::Div(big, hn::Add(big, hn::Set(d, 2.0f))), x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#endif
