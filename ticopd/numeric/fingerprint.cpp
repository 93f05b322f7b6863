#include "ticopd/numeric/fingerprint.hpp"

#define XXH_STATIC_LINKING_ONLY  // exposes the state, so that it can be a member
#include <fmt/format.h>
#include <xxhash.h>

namespace ticopd {

struct Fingerprint::State {
  alignas(64) XXH3_state_t xxh;
};

Fingerprint::Fingerprint() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}
Fingerprint::~Fingerprint() = default;

Fingerprint& Fingerprint::add_bytes(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
  return *this;
}

std::string Fingerprint::hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh));
  std::string text;
  for (const unsigned char b : canonical.digest) text += fmt::format("{:02x}", b);
  return text;
}

}  // namespace ticopd
