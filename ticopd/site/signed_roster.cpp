#include "ticopd/site/signed_roster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/site/keys.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {

namespace fs = std::filesystem;
using nlohmann::json;

json toml_table(std::string_view toml, const std::string& name) {
  try {
    return toml_to_json(toml, name);
  } catch (const ConfigError& e) {
    throw FormatError(e.what());
  }
}

Bytes pack(const SignedRoster& roster) {
  const auto length = static_cast<std::uint32_t>(roster.signature.size());
  Bytes bytes(sizeof length + roster.signature.size() + roster.text.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::ranges::copy(std::as_bytes(std::span(roster.signature)), bytes.begin() + sizeof length);
  std::ranges::copy(std::as_bytes(std::span(roster.text)),
                    bytes.end() - static_cast<std::ptrdiff_t>(roster.text.size()));
  return bytes;
}

SignedRoster unpack_roster(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) throw FormatError("is no signed roster");
  std::memcpy(&length, bytes.data(), sizeof length);
  bytes = bytes.subspan(sizeof length);
  if (length > bytes.size()) throw FormatError("is no signed roster");
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return {.text = std::string(text + length, bytes.size() - length),
          .signature = std::string(text, length)};
}

fs::path signature_file(const fs::path& roster) {
  return roster.string() + ".sig";
}

std::string signature_text(const std::string& operator_key, const std::string& signature) {
  return fmt::format("operator = \"{}\"\nsignature = \"{}\"\n", operator_key, signature);
}

void check_signature(std::string_view roster, std::string_view signature,
                     const std::string& operator_key, const std::string& name) {
  const json table = toml_table(signature, name + ".sig");
  const auto word = [&](const char* key) {
    if (!table.contains(key) || !table[key].is_string())
      throw FormatError(fmt::format("{}.sig: is not a signature: {} is missing", name, key));
    return table[key].get<std::string>();
  };
  const std::string signer = word("operator"), signed_text = word("signature");
  if (signer != operator_key)
    throw ConfigError(
        fmt::format("{}: signed by the operator {}, and this site follows the operator "
                    "{}",
                    name, printable(signer), operator_key));
  if (!verify_signature(operator_key, roster, signed_text))
    throw FormatError(fmt::format(
        "{}: was changed after it was signed; the operator signs it with `ticopd network sign`",
        name));
}

}  // namespace ticopd
