// Messages between sites. An input is a byte of choices and then the bytes of a message, or fields
// and a body that a sender gives their hash. What is accepted is the same when it is encoded again,
// and a message with one bit flipped is none.
#include <cstdint>
#include <optional>
#include <span>

#include "fuzz/message_input.hpp"
#include "fuzz/want.hpp"

namespace {

using namespace ticopd;

enum Choice : std::size_t { of_bytes = 1, flip_a_bit = 2 };

// As the transport does; the bytes end where the block of memory ends.
std::optional<Message> decoded(const Bytes& bytes) {
  ++tried_reads;
  std::optional<Message> m = decode_message(bytes);
  if (!m) return m;
  want(encode(*m) == bytes);
  ++accepted_reads;
  return m;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Script script(std::span(data, size));
  const std::size_t choices = script.byte();
  if ((choices & of_bytes) != 0) {
    const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
    decoded(Bytes(bytes.begin(), bytes.end()));
    return 0;
  }
  Message m;
  constexpr int most = 16;
  for (int n = 0; n < most && !script.empty(); ++n) change(m, script);
  Bytes bytes = encode(m);
  const std::optional<Message> found = decoded(bytes);
  want(!found || *found == m);
  if ((choices & flip_a_bit) == 0) return 0;
  const std::size_t place = (size * 0x9e3779b97f4a7c15u >> 16) % (8 * bytes.size());
  bytes[place / 8] ^= static_cast<std::byte>(1u << place % 8);
  want(!decode_message(bytes));
  return 0;
}
