#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

// The keys of a network of sites. As text, 32 bytes are 40 characters (Z85, as CURVE has them).
namespace ticopd {

enum class KeyKind {
  site,  // CURVE: sites know each other by it, and encrypt what they say
  owner  // Ed25519: the operator signs rosters with it
};

struct KeyPair {
  KeyKind kind = KeyKind::site;
  std::string name, public_key, secret;  // the keys: text of 32 bytes
};

KeyPair make_keys(KeyKind kind, const std::string& name);

// NAME.key, which only its owner can read, and NAME.pub. UsageError if one of them is there: a key
// is never overwritten.
void write_keys(const KeyPair& keys, const std::filesystem::path& folder);

// FormatError for a file that holds no such key; its message never quotes the file. ConfigError if
// others can read a secret key.
KeyPair read_keys(const std::filesystem::path& file, KeyKind kind);
std::string read_public_key(const std::filesystem::path& file, KeyKind kind);

// Ed25519, 64 bytes as text of 80 characters. `verify_signature` is false for anything odd.
std::string sign(const KeyPair& operator_keys, std::string_view bytes);
bool verify_signature(const std::string& public_key, std::string_view bytes,
                      const std::string& signature);

// Z85: 4 bytes are 5 characters. An empty result of from_z85 says that the text is none.
std::string to_z85(std::string_view bytes);
std::string from_z85(std::string_view text);
bool is_key(std::string_view text);  // of 32 bytes

// Names of sites and keys are parts of file names: letters, digits, ".", "_", "-".
// Empty if `name` can be one; else the name and what is allowed.
std::string why_no_name(const std::string& name);

}  // namespace ticopd
