// Turns coordinates into levels and signs, and back.
#include "ticopd/codecs/vector_loops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ticopd/codecs/vector_levels.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include "ticopd/codecs/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {

#if TICOPD_SCALAR_ONLY
template <class Level>
void quantise(Source<float> v, const std::uint32_t* noise, const Scale<float>& by, Level* levels) {
  Reference::quantise(v, noise, by, levels);
}
template <class Level>
void dequantise(const Level* levels, const std::byte* signs, std::size_t first, float unit,
                std::span<float> q) {
  Reference::dequantise(levels, signs, first, unit, q);
}
void take_signs(Source<float> v, std::byte* out) {
  Reference::take_signs(v, out);
}
void give_signs(const std::byte* signs, float value, std::span<float> q) {
  Reference::give_signs(signs, value, q);
}
void pack_nibbles(std::span<const std::uint8_t> levels, std::byte* out) {
  Reference::pack(levels, 4, out);
}
void unpack_nibbles(const std::byte* in, std::span<std::uint8_t> levels) {
  Reference::unpack(in, 4, levels);
}
#else

#if TICOPD_AVX512
// GCC 12 warns of an uninitialized operand in the unmasked intrinsics (its bug 105593).
constexpr __mmask16 all = 0xffff;
#endif

// floor of a number that is not negative and fits in an int. Highway's own conversion costs more,
// because it also handles numbers that do not fit.
HWY_INLINE VI whole_part(VF x) {
#if TICOPD_AVX512
  return VI{_mm512_maskz_cvttps_epi32(all, x.raw)};
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(DI(), x);
#endif
}

template <class Level>
HWY_INLINE void store_levels(VI levels, Level* out) {
#if TICOPD_AVX512  // one instruction where Highway's DemoteTo takes four
  if constexpr (sizeof(Level) == 1)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_maskz_cvtepi32_epi8(all, levels.raw));
  else
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm512_maskz_cvtepi32_epi16(all, levels.raw));
#else
  const hn::Rebind<Level, DI> d;
  hn::StoreU(hn::DemoteTo(d, levels), d, out);
#endif
}

// Scale::level in vectors.
// Like all loops here, it makes the bits of ScalarLoops: the same operations in the same order.
template <class Level>
void quantise(Source<float> v, const std::uint32_t* noise, const Scale<float>& by, Level* levels) {
  const DF d;
  const VF top = hn::Set(d, by.top), lift = hn::Set(d, by.lift), scale = hn::Set(d, by.scale);
  const VF unit = hn::Set(d, 0x1p-24f);
  const bool lifted = by.lift != 1.0f;
  std::size_t k = 0;
  for (; k + lanes <= v.size(); k += lanes) {
    VF x = hn::Abs(coordinates(d, v, k));
    if (lifted) x = hn::Mul(x, lift);
    const auto bits = hn::BitCast(DI(), hn::ShiftRight<8>(hn::LoadU(DU(), noise + k)));
    // The product u is exact, so the fused multiply-add has the bits of two separate operations.
    x = hn::MulAdd(hn::ConvertTo(d, bits), unit, hn::Mul(x, scale));
    store_levels(whole_part(hn::Min(x, top)), levels + k);
  }
  Reference::quantise(v.part(k, v.size() - k), noise + k, by, levels + k);
}

// Calls give(j, negative) for the vectors of 64 coordinates, j = 0, lanes, 2 lanes, ... `negative`
// holds a sign bit in each lane whose bit in the plane is set.
template <class Give>
HWY_INLINE void each_sign(const std::byte* signs, Give give) {
  const std::uint64_t word = load_word({signs, sizeof(std::uint64_t)});
  for (std::size_t j = 0; j < chunk; j += lanes) {
    const std::uint64_t bits = word >> j;
    const auto mask = hn::LoadMaskBits(DF(), reinterpret_cast<const std::uint8_t*>(&bits));
    give(j, hn::IfThenElseZero(mask, hn::Set(DF(), -0.0f)));
  }
}

// level_value in vectors.
template <class Level>
void dequantise(const Level* levels, const std::byte* signs, std::size_t first, float unit,
                std::span<float> q) {
  const DF d;
  const hn::Rebind<Level, DF> dl;
  const VF units = hn::Set(d, unit);
  // Vectors take 64 signs at a time, in whole words. The scalar loop does the coordinates before.
  std::size_t k = std::min((chunk - first % chunk) % chunk, q.size());
  Reference::dequantise(levels, signs, first, unit, q.first(k));
  for (; k + chunk <= q.size(); k += chunk)
    each_sign(signs + (first + k) / 8, [&](std::size_t j, VF negative) HWY_ATTR {
      const VI level = hn::PromoteTo(DI(), hn::LoadU(dl, levels + k + j));
      const VF x = hn::Mul(hn::ConvertTo(d, level), units);
      hn::StoreU(hn::Xor(x, negative), d, q.data() + k + j);
    });
  Reference::dequantise(levels + k, signs, first + k, unit, q.subspan(k));
}

// The sign bits of one vector, the first lane's lowest.
HWY_INLINE std::uint32_t sign_bits(VF x) {
#if TICOPD_AVX512  // Highway would go through memory
  return _mm512_movepi32_mask(_mm512_castps_si512(x.raw));
#elif HWY_TARGET == HWY_AVX2
  return static_cast<std::uint32_t>(_mm256_movemask_ps(x.raw));
#else
  std::uint8_t bits[8] = {};
  hn::StoreMaskBits(DI(), hn::Lt(hn::BitCast(DI(), x), hn::Zero(DI())), bits);
  return bits[0];
#endif
}

void take_signs(Source<float> v, std::byte* out) {
  std::size_t k = 0;
  for (; k + 16 <= v.size(); k += 16) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 16; j += lanes) word |= sign_bits(coordinates(DF(), v, k + j)) << j;
    store_word(word, {out + k / 8, 2});
  }
  Reference::take_signs(v.part(k, v.size() - k), out + k / 8);
}

void give_signs(const std::byte* signs, float value, std::span<float> q) {
  const VF values = hn::Set(DF(), value);
  std::size_t k = 0;
  for (; k + chunk <= q.size(); k += chunk)
    each_sign(signs + k / 8, [&](std::size_t j, VF negative) HWY_ATTR {
      hn::StoreU(hn::Xor(values, negative), DF(), q.data() + k + j);
    });
  Reference::give_signs(signs + k / 8, value, q.subspan(k));
}

// Packs two levels below 16, in the bytes of a 16-bit lane, into one byte, and unpacks them.
void pack_nibbles(std::span<const std::uint8_t> levels, std::byte* out) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const hn::Repartition<std::uint8_t, decltype(d16)> pairs;
  const hn::RebindToSigned<decltype(d16)> di16;
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  std::size_t k = 0;
  for (; k + hn::MaxLanes(pairs) <= levels.size(); k += hn::MaxLanes(pairs)) {
    const auto two = hn::BitCast(d16, hn::LoadU(pairs, levels.data() + k));
    const auto one = hn::And(hn::Or(two, hn::ShiftRight<4>(two)), hn::Set(d16, 0xff));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di16, one)), d8, to + k / 2);
  }
  Reference::pack(levels.subspan(k), 4, out + k / 2);
}

void unpack_nibbles(const std::byte* in, std::span<std::uint8_t> levels) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const hn::Repartition<std::uint8_t, decltype(d16)> pairs;
  const auto* from = reinterpret_cast<const std::uint8_t*>(in);
  std::size_t k = 0;
  for (; k + hn::MaxLanes(pairs) <= levels.size(); k += hn::MaxLanes(pairs)) {
    const auto one = hn::PromoteTo(d16, hn::LoadU(d8, from + k / 2));
    const auto two = hn::And(hn::Or(one, hn::ShiftLeft<4>(one)), hn::Set(d16, 0x0f0f));
    hn::StoreU(hn::BitCast(pairs, two), pairs, levels.data() + k);
  }
  Reference::unpack(in + k / 2, 4, levels.subspan(k));
}
#endif

// Highway chooses among functions at run time, and takes no templates.
void quantise_8(Source<float> v, const std::uint32_t* noise, const Scale<float>& by,
                std::uint8_t* levels) {
  quantise(v, noise, by, levels);
}
void quantise_16(Source<float> v, const std::uint32_t* noise, const Scale<float>& by,
                 std::uint16_t* levels) {
  quantise(v, noise, by, levels);
}
void dequantise_8(const std::uint8_t* levels, const std::byte* signs, std::size_t first, float unit,
                  std::span<float> q) {
  dequantise(levels, signs, first, unit, q);
}
void dequantise_16(const std::uint16_t* levels, const std::byte* signs, std::size_t first,
                   float unit, std::span<float> q) {
  dequantise(levels, signs, first, unit, q);
}

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ticopd {

HWY_EXPORT(quantise_8);
HWY_EXPORT(quantise_16);
HWY_EXPORT(dequantise_8);
HWY_EXPORT(dequantise_16);
HWY_EXPORT(take_signs);
HWY_EXPORT(give_signs);
HWY_EXPORT(pack_nibbles);
HWY_EXPORT(unpack_nibbles);

void VectorLoops::take_signs(Source<float> v, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(take_signs)(v, out);
}
void VectorLoops::give_signs(const std::byte* signs, float value, std::span<float> q) {
  HWY_DYNAMIC_DISPATCH(give_signs)(signs, value, q);
}

template <>
void VectorLoops::quantise(Source<float> v, const std::uint32_t* noise, const Scale<float>& by,
                           std::uint8_t* levels) {
  HWY_DYNAMIC_DISPATCH(quantise_8)(v, noise, by, levels);
}
template <>
void VectorLoops::quantise(Source<float> v, const std::uint32_t* noise, const Scale<float>& by,
                           std::uint16_t* levels) {
  HWY_DYNAMIC_DISPATCH(quantise_16)(v, noise, by, levels);
}
template <>
void VectorLoops::dequantise(const std::uint8_t* levels, const std::byte* signs, std::size_t first,
                             float unit, std::span<float> q) {
  HWY_DYNAMIC_DISPATCH(dequantise_8)(levels, signs, first, unit, q);
}
template <>
void VectorLoops::dequantise(const std::uint16_t* levels, const std::byte* signs, std::size_t first,
                             float unit, std::span<float> q) {
  HWY_DYNAMIC_DISPATCH(dequantise_16)(levels, signs, first, unit, q);
}

template <>
void VectorLoops::pack(std::span<const std::uint8_t> levels, unsigned bits, std::byte* out) {
  if (bits == 4)
    HWY_DYNAMIC_DISPATCH(pack_nibbles)(levels, out);
  else
    ScalarLoops<float>::pack(levels, bits, out);
}
template <>
void VectorLoops::pack(std::span<const std::uint16_t> levels, unsigned bits, std::byte* out) {
  ScalarLoops<float>::pack(levels, bits, out);
}
template <>
void VectorLoops::unpack(const std::byte* in, unsigned bits, std::span<std::uint8_t> levels) {
  if (bits == 4)
    HWY_DYNAMIC_DISPATCH(unpack_nibbles)(in, levels);
  else
    ScalarLoops<float>::unpack(in, bits, levels);
}
template <>
void VectorLoops::unpack(const std::byte* in, unsigned bits, std::span<std::uint16_t> levels) {
  ScalarLoops<float>::unpack(in, bits, levels);
}

}  // namespace ticopd
#endif
