// Philox4x32-10 in vectors.
#include "ticopd/codecs/vector_loops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ticopd/codecs/vector_noise.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include "ticopd/codecs/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ticopd {
namespace HWY_NAMESPACE {

#if TICOPD_SCALAR_ONLY
void draw(const MessageId& message, std::size_t first, std::size_t count, std::uint32_t* out) {
  Reference::draw(message, first, count, out);
}
#else

// A 64-bit lane per counter. Each of the counter's four words has a vector of its own and lies in
// the low half of the lane. The widening multiplication reads only the low halves, so what it
// leaves in the high halves does no harm. A round is two multiplications, two shifts and two
// three-way xors.
class Philox {
 public:
  using D64 = hn::ScalableTag<std::uint64_t>;
  using D32 = hn::Repartition<std::uint32_t, D64>;
  using V = hn::Vec<D64>;
  // Independent vectors side by side hide the latency of the multiplications.
  static constexpr std::size_t ways = HWY_MAX_BYTES >= 64 ? 4 : 2;
  static constexpr std::size_t words = ways * 2 * hn::MaxLanes(D32());

  // Round, agent and channel are the same in all lanes, so half of the first two rounds is scalar.
  // After these rounds only x0, x1 and x2 differ between lanes; the fourth word does not.
  explicit HWY_INLINE Philox(const MessageId& message) {
    std::uint32_t k0 = static_cast<std::uint32_t>(message.seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(message.seed >> 32);
    for (int r = 0; r < 10; ++r, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) key_[r] = {k0, k1};
    const std::uint64_t second = std::uint64_t{m1} * message.agent;
    const auto first = static_cast<std::uint32_t>(second >> 32) ^ message.round ^ key_[0].k0;
    const std::uint64_t third = std::uint64_t{m0} * first;
    after_1_ = message.channel ^ key_[0].k1;
    after_2_x0_ = static_cast<std::uint32_t>(second) ^ key_[1].k0;
    after_2_x2_ = static_cast<std::uint32_t>(third >> 32) ^ key_[1].k1;
    after_3_ = static_cast<std::uint32_t>(third) ^ key_[2].k1;
  }

  // Writes `words` words in coordinate order, starting at counter `index`.
  HWY_INLINE void block(std::uint32_t index, std::uint32_t* HWY_RESTRICT out) const {
    const D64 d;
    V x0[ways], x1[ways], x2[ways], x3[ways];
    for (std::size_t w = 0; w < ways; ++w) {
      const V counter = hn::Add(hn::Set(d, index + w * hn::MaxLanes(d)), lane_counters());
      const V p = times(counter, m0);
      x1[w] = times(hn::Xor(hn::ShiftRight<32>(p), hn::Set(d, after_1_)), m1);
      x0[w] = hn::Xor(hn::ShiftRight<32>(x1[w]), hn::Set(d, after_2_x0_));
      x2[w] = hn::Xor(p, hn::Set(d, after_2_x2_));
    }
    for (std::size_t w = 0; w < ways; ++w) {
      x3[w] = times(x0[w], m0);
      const V p = times(x2[w], m1);
      x0[w] = hn::Xor3(hn::ShiftRight<32>(p), x1[w], hn::Set(d, key_[2].k0));
      x2[w] = hn::Xor(hn::ShiftRight<32>(x3[w]), hn::Set(d, after_3_));
      x1[w] = p;
    }
    for (int r = 3; r < 9; ++r)
      for (std::size_t w = 0; w < ways; ++w) {
        const V p0 = times(x0[w], m0), p1 = times(x2[w], m1);
        x0[w] = hn::Xor3(hn::ShiftRight<32>(p1), x1[w], hn::Set(d, key_[r].k0));
        x2[w] = hn::Xor3(hn::ShiftRight<32>(p0), x3[w], hn::Set(d, key_[r].k1));
        x1[w] = p1;
        x3[w] = p0;
      }
    for (std::size_t w = 0; w < ways; ++w) {
      const V low = last(times(x2[w], m1), x1[w], key_[9].k0);   // words 0 and 1
      const V high = last(times(x0[w], m0), x3[w], key_[9].k1);  // words 2 and 3
      std::uint32_t* to = out + w * 2 * hn::MaxLanes(D32());
      hn::StoreU(hn::BitCast(D32(), hn::InterleaveLower(d, low, high)), D32(), to);
      hn::StoreU(hn::BitCast(D32(), hn::InterleaveUpper(d, low, high)), D32(),
                 to + hn::MaxLanes(D32()));
    }
  }

 private:
  static constexpr std::uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u;

  static HWY_INLINE V times(V x, std::uint32_t m) {
    return hn::MulEven(hn::BitCast(D32(), x), hn::Set(D32(), m));
  }

  // The even lanes hold the first half of the counters and the odd lanes the second half.
  // Interleaving two vectors stays inside 128 bits; with this order it leaves all words in
  // coordinate order.
  static HWY_INLINE V lane_counters() {
    constexpr std::size_t lanes = hn::MaxLanes(D64());
    alignas(64) std::uint64_t counters[lanes];
    for (std::size_t j = 0; j < lanes; ++j) counters[j] = j / 2 + j % 2 * (lanes / 2);
    return hn::Load(D64(), counters);
  }

  // The last round leaves both words of one product in its lane: the high word, xored, in the low
  // half, and the low word in the high half.
  static HWY_INLINE V last(V p, V x, std::uint32_t k) {
    const auto swapped = hn::Shuffle2301(hn::BitCast(D32(), p));
#if TICOPD_AVX512  // one masked instruction; Highway has no masked Xor3
    return V{_mm512_mask_ternarylogic_epi32(swapped.raw, 0x5555, x.raw,
                                            _mm512_set1_epi32(static_cast<int>(k)), 0x96)};
#else
    const V in_low = hn::And(x, hn::Set(D64(), 0xffffffffu));
    return hn::Xor3(hn::BitCast(D64(), swapped), in_low, hn::Set(D64(), k));
#endif
  }

  struct Key {
    std::uint32_t k0, k1;
  };
  Key key_[10];
  std::uint32_t after_1_, after_2_x0_, after_2_x2_, after_3_;
};

// Writes whole blocks, so `out` may get more than `count` words.
void draw(const MessageId& message, std::size_t first, std::size_t count, std::uint32_t* out) {
  static_assert(codec_stretch % Philox::words == 0);
  const Philox philox(message);
  for (std::size_t k = 0; k < count; k += Philox::words)
    philox.block(static_cast<std::uint32_t>((first + k) / 4), out + k);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace ticopd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ticopd {

HWY_EXPORT(draw);

void VectorLoops::draw(const MessageId& message, std::size_t first, std::size_t count,
                       std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(draw)(message, first, count, out);
}

}  // namespace ticopd
#endif
