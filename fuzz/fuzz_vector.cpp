// Compares vector loops with scalar ones: byte 0 chooses bits and options, byte 1 the bucket, byte
// 2 the part of the rest that is h; the rest is the bit patterns of floats. Both versions of qsgd
// and sign must reject the same rows, make the same bytes, and decode these and damaged bytes to
// the same bits.
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/sign.hpp"

namespace {

using namespace ticopd;
using Scalar = ScalarLoops<float>;

void want(bool fact) {
  if (!fact) std::abort();
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void decode(const Codec<float>& vector, const Codec<float>& scalar, const Bytes& in,
            std::size_t d) {
  std::vector<float> q(d), expected(d);
  const bool readable = scalar.decode(in, MessageId{}, expected);
  want(vector.decode(in, MessageId{}, q) == readable);
  want(!readable || same_bits(q, expected));
}

void compare(const Codec<float>& vector, const Codec<float>& scalar, std::span<const float> x,
             std::span<const float> h) {
  const MessageId message{x.size() * 0x9e3779b97f4a7c15ull, 2, 3, 4};
  const std::size_t d = x.size();
  std::vector<float> v(d), q(d), expected_q(d);
  for (std::size_t k = 0; k < d; ++k) v[k] = x[k] - h[k];
  Bytes out, expected;
  const bool finite = scalar.encode(v, message, expected);
  want(vector.encode(v, message, out) == finite);
  want(!finite || out == expected);
  const auto use = [&](std::size_t first, std::span<const float> some) {
    std::copy(some.begin(), some.end(), q.begin() + static_cast<std::ptrdiff_t>(first));
  };
  want(vector.encode_difference(x, h, message, out, use) == finite);
  if (!finite) return;
  want(out == expected && scalar.decode(out, message, expected_q) && same_bits(q, expected_q));
  decode(vector, scalar, out, d);
  if (d == 0) return;
  std::uint32_t bits;  // the row itself chooses the byte to damage
  std::memcpy(&bits, x.data(), sizeof bits);
  out[bits % out.size()] ^= static_cast<std::byte>(bits >> 24 | 1);
  decode(vector, scalar, out, d);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  CodecOptions o;
  o.bits = 1 + data[0] % 16;
  o.scaled = (data[0] & 16) != 0;
  o.bucket = data[1];
  const std::size_t d = (size - 3) / 4;
  std::vector<float> x(d), h(d, 0.0f);
  if (d > 0) std::memcpy(x.data(), data + 3, 4 * d);
  for (std::size_t k = 0; k < d * data[2] / 255; ++k) h[k] = x[d - 1 - k];

  const std::int64_t all = hwy::SupportedTargets();
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    compare(Qsgd<float>(o), Qsgd<float, Scalar>(o), x, h);
    compare(Sign<float>(o), Sign<float, Scalar>(o), x, h);
  }
  hwy::GetChosenTarget().Update(all);
  return 0;
}
