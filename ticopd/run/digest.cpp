#include "ticopd/run/digest.hpp"

#define XXH_STATIC_LINKING_ONLY  // exposes the state, which checkpoints save
#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstring>

#include "ticopd/error.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {
namespace {

RowHash canonical(XXH128_hash_t hash) {
  XXH128_canonical_t c;
  XXH128_canonicalFromHash(&c, hash);
  RowHash bytes;
  std::memcpy(bytes.data(), c.digest, bytes.size());
  return bytes;
}

std::string to_hex(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char b : bytes) {
    text += digits[b >> 4];
    text += digits[b & 15];
  }
  return text;
}

}  // namespace

struct Digest::State {
  alignas(64) XXH3_state_t xxh;
};

Digest::Digest() : state_(std::make_unique<State>()) {
  std::memset(&state_->xxh, 0, sizeof state_->xxh);
  XXH3_128bits_reset(&state_->xxh);
}
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

RowHash row_hash(std::span<const std::byte> row) {
  return canonical(XXH3_128bits(row.data(), row.size()));
}

std::string hex_of(const RowHash& hash) {
  return to_hex(hash);
}

RowHash hash_of_hex(std::string_view text) {
  RowHash hash{};
  if (text.size() != 2 * hash.size()) throw FormatError("a row's hash has a wrong length");
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, hash[i], 16).ptr != digits + 2)
      throw FormatError("a row's hash is not hex");
  }
  return hash;
}

template <class T>
void Digest::add(AnyNetwork<T>& net, const Field<T>& x) {
  std::vector<RowHash> mine(net.placement().rows());
  net.surroundings().pool.run(mine.size(),
                              [&](std::size_t i) { mine[i] = row_hash(std::as_bytes(x.row(i))); });
  add(net.round(), all_gather_values<RowHash>(net.surroundings().transport, channel_digest, mine));
}

void Digest::add(std::uint32_t round, std::span<const RowHash> rows) {
  // Fixed byte order, so that the digest does not depend on the machine.
  std::array<unsigned char, 8> number{};
  for (std::size_t b = 0; b < 4; ++b) number[b] = static_cast<unsigned char>(round >> (8 * b));
  XXH3_128bits_update(&state_->xxh, number.data(), number.size());
  for (const RowHash& row : rows) XXH3_128bits_update(&state_->xxh, row.data(), row.size());
}

std::string Digest::hex() const {
  return to_hex(canonical(XXH3_128bits_digest(&state_->xxh)));
}

// The state holds one pointer, to the library's own secret. It is left out here, so that
// checkpoints do not differ between processes, and restore() sets it again.
std::string Digest::state() const {
  State copy = *state_;
  copy.xxh.extSecret = nullptr;
  std::array<unsigned char, sizeof(XXH3_state_t)> bytes;
  std::memcpy(bytes.data(), &copy.xxh, bytes.size());
  return fmt::format("{}:{}", XXH_versionNumber(), to_hex(bytes));
}

Digest Digest::restore(std::string_view state) {
  const std::string prefix = fmt::format("{}:", XXH_versionNumber());
  if (!state.starts_with(prefix))
    throw FormatError("the checkpoint's digest was made by another version of xxHash");
  state.remove_prefix(prefix.size());
  if (state.size() != 2 * sizeof(XXH3_state_t))
    throw FormatError("the checkpoint's digest state has a wrong length");
  Digest digest;
  const unsigned char* const secret = digest.state_->xxh.extSecret;
  auto* bytes = reinterpret_cast<unsigned char*>(&digest.state_->xxh);
  const auto nibble = [](char c) -> int {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < sizeof(XXH3_state_t); ++i) {
    const int high = nibble(state[2 * i]), low = nibble(state[2 * i + 1]);
    if (high < 0 || low < 0) throw FormatError("the checkpoint's digest state is not hex");
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  auto& xxh = digest.state_->xxh;
  // XXH3 trusts these sizes: wrong ones would make it read or write outside its buffer and its
  // secret. Those that do not change while it hashes must be the ones of a new state.
  const Digest begun;
  const XXH3_state_t& fresh = begun.state_->xxh;
  if (xxh.bufferedSize > sizeof xxh.buffer || xxh.nbStripesSoFar > xxh.nbStripesPerBlock ||
      xxh.nbStripesPerBlock != fresh.nbStripesPerBlock || xxh.secretLimit != fresh.secretLimit ||
      xxh.useSeed != fresh.useSeed || xxh.seed != fresh.seed)
    throw FormatError("the checkpoint's digest state is damaged");
  xxh.extSecret = secret;
  return digest;
}

template void Digest::add<float>(AnyNetwork<float>&, const Field<float>&);
template void Digest::add<double>(AnyNetwork<double>&, const Field<double>&);

}  // namespace ticopd
