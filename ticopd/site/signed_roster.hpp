#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/bytes.hpp"

namespace ticopd {

// The tree of a file that came from elsewhere: FormatError if it is no TOML.
nlohmann::json toml_table(std::string_view toml, const std::string& name);

// The detached signature beside a roster, over its exact bytes.
std::filesystem::path signature_file(const std::filesystem::path& roster);
std::string signature_text(const std::string& operator_key, const std::string& signature);
// FormatError: damaged, or the roster was changed after it was signed. ConfigError: another
// operator signed it.
void check_signature(std::string_view roster, std::string_view signature,
                     const std::string& operator_key, const std::string& name);

// A roster and its signature in one piece, as sites hand it on and keep it: at most what fits a
// message. Unpacking checks nothing but that there are two parts: FormatError.
struct SignedRoster {
  std::string text, signature;
};
Bytes pack(const SignedRoster& roster);
SignedRoster unpack_roster(std::span<const std::byte> bytes);

}  // namespace ticopd
