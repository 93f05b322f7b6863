// Payloads without a frame: byte 0 chooses codec and scalar, bytes 1 and 2 the size d, byte 3 the
// options; the rest is the payload. A decoder must reject it or fill the row with finite numbers
// (check_decode.hpp).
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/check_decode.hpp"
#include "fuzz/choose_codec.hpp"

namespace {

using namespace ticopd;

template <class T>
void decode(const CodecOptions& o, std::size_t d, std::span<const std::byte> payload) {
  std::vector<T> q(d);
  Bytes again;
  const auto codec = make_codec<T>(o);
  check_decode<T>(*codec, payload, q, again);
  check_chunks<T>(*codec, payload, d);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < decode_head_bytes) return 0;
  const CodecOptions o = choose_codec(data[0] >> 1, data[3]);
  const std::size_t d = (data[1] | data[2] << 8) % decode_dimensions;
  const auto payload = std::as_bytes(std::span(data + decode_head_bytes, size - decode_head_bytes));
  if ((data[0] & 1) != 0)
    decode<double>(o, d, payload);
  else
    decode<float>(o, d, payload);
  return 0;
}
