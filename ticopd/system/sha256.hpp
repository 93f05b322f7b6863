#pragma once

#include <string>
#include <string_view>

namespace ticopd {

// SHA-256 of the bytes, 64 lower-case hex digits.
std::string sha256(std::string_view bytes);

}  // namespace ticopd
