// Payloads without a frame: byte 0 chooses codec and scalar, bytes 1 and 2 the size d, byte 3 the
// options; the rest is the payload. A decoder must reject it or fill the row with finite numbers.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz/choose_codec.hpp"

namespace {

using namespace ticopd;

template <class T>
void decode(const CodecOptions& o, std::size_t d, std::span<const std::byte> payload) {
  const auto codec = make_codec<T>(o);
  const MessageId message{1, 2, 3, 0};
  std::vector<T> q(d);
  if (!codec->decode(payload, message, q)) return;
  const bool fixed = codec->fixed_length();
  const std::size_t longest = codec->payload_bytes(d);
  if (payload.size() > longest || (fixed && payload.size() < longest)) std::abort();
  for (const T x : q)
    if (!std::isfinite(x)) std::abort();
  // A decoded row is an ordinary row: encode() rejects it as too large, or its payload can be
  // decoded.
  Bytes again;
  if (!codec->encode(q, message, again)) return;
  if (fixed && again.size() != payload.size()) std::abort();
  if (!codec->decode(again, message, q)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const CodecOptions o = choose_codec(data[0] >> 1, data[3]);
  const std::size_t d = (data[1] | data[2] << 8) % 1025;
  const auto payload = std::as_bytes(std::span(data + 4, size - 4));
  if ((data[0] & 1) != 0)
    decode<double>(o, d, payload);
  else
    decode<float>(o, d, payload);
  return 0;
}
