// Sums of squares and of magnitudes, in the tree of ticopd/numeric/sum.hpp.
#include "ticopd/codecs/vector_loops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ticopd/codecs/vector_sum.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include "ticopd/codecs/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {

#if TICOPD_SCALAR_ONLY
double sum_of_squares(Source<float> v) {
  return Reference::sum_of_squares(v);
}
double sum_of_magnitudes(Source<float> v) {
  return Reference::sum_of_magnitudes(v);
}
#else

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;

// One block of the tree of ticopd/numeric/sum.hpp, or the rest of the row. Its 16 lanes are two
// vectors of eight, or four of four, ...
template <class AddTerm>
HWY_INLINE double block_sum(Source<float> v, AddTerm add_term) {
  constexpr std::size_t wide = hn::MaxLanes(DD()), count = sum_lanes / wide;
  const hn::Rebind<float, DD> df;
  VD sum[count];
  for (std::size_t i = 0; i < count; ++i) sum[i] = hn::Zero(DD());
  std::size_t k = 0;
  for (; k + sum_lanes <= v.size(); k += sum_lanes)
    for (std::size_t i = 0; i < count; ++i)
      sum[i] = add_term(sum[i], hn::PromoteTo(DD(), coordinates(df, v, k + i * wide)));
  if (k < v.size()) {
    float rest[sum_lanes] = {};  // adding zeros changes no bit of a sum that is not negative
    for (std::size_t j = 0; k + j < v.size(); ++j) rest[j] = v[k + j];
    for (std::size_t i = 0; i < count; ++i)
      sum[i] = add_term(sum[i], hn::PromoteTo(DD(), hn::LoadU(df, rest + i * wide)));
  }
  for (std::size_t half = count / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) sum[i] = hn::Add(sum[i], sum[i + half]);
  alignas(64) double lane[wide];
  hn::Store(sum[0], DD(), lane);
  for (std::size_t half = wide / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) lane[j] += lane[j + half];
  return lane[0];
}

template <class AddTerm>
HWY_INLINE double vector_tree_sum(Source<float> v, AddTerm add_term) {
  SumLanes blocks{};
  for (std::size_t first = 0, b = 0; first < v.size(); first += sum_block, ++b)
    blocks[b % sum_lanes] +=
        block_sum(v.part(first, std::min(sum_block, v.size() - first)), add_term);
  return fold(blocks);
}

// SumOfSquares and SumOfMagnitudes in vectors. A float squared is exact in double, so a fused
// multiply-add has the bits of the two operations.
double sum_of_squares(Source<float> v) {
  return vector_tree_sum(v, [](VD sum, VD a) HWY_ATTR { return hn::MulAdd(a, a, sum); });
}
double sum_of_magnitudes(Source<float> v) {
  return vector_tree_sum(v, [](VD sum, VD a) HWY_ATTR { return hn::Add(sum, hn::Abs(a)); });
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ticopd {

HWY_EXPORT(sum_of_squares);
HWY_EXPORT(sum_of_magnitudes);

double VectorLoops::sum_of_squares(Source<float> v) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(v);
}
double VectorLoops::sum_of_magnitudes(Source<float> v) {
  return HWY_DYNAMIC_DISPATCH(sum_of_magnitudes)(v);
}

}  // namespace ticopd
#endif
