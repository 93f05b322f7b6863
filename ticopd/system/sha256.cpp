#include "ticopd/system/sha256.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace ticopd {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("sha256: OpenSSL has no SHA-256");
  std::string hex;
  for (unsigned k = 0; k < length; ++k) hex += fmt::format("{:02x}", digest[k]);
  return hex;
}

}  // namespace ticopd
