#include "ticopd/site/keys.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view digits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
constexpr std::size_t key_bytes = 32, signature_bytes = 64;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Context = std::unique_ptr<EVP_MD_CTX, Free>;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* raw(std::string& bytes) {
  return reinterpret_cast<unsigned char*>(bytes.data());
}

int algorithm_of(KeyKind kind) {
  return kind == KeyKind::site ? EVP_PKEY_X25519 : EVP_PKEY_ED25519;
}
std::string word_of(KeyKind kind) {
  return kind == KeyKind::site ? "site" : "operator";
}

Key secret_key(KeyKind kind, std::string_view bytes) {
  Key key(EVP_PKEY_new_raw_private_key(algorithm_of(kind), nullptr, raw(bytes), bytes.size()));
  if (!key) throw UnavailableError("this OpenSSL has no keys of Curve25519");
  return key;
}

std::string public_part(KeyKind kind, std::string_view secret) {
  std::string open(key_bytes, '\0');
  std::size_t size = open.size();
  if (EVP_PKEY_get_raw_public_key(secret_key(kind, secret).get(), raw(open), &size) != 1 ||
      size != key_bytes)
    throw UnavailableError("OpenSSL gave no public key");
  return open;
}

// A file of keys as a table. What stands in it is never repeated in a message.
json read_key_table(const fs::path& file, KeyKind kind) {
  const std::string text = read_bytes(file);
  json table;
  try {
    table = toml_to_json(text, "key");
  } catch (const ConfigError&) {
    throw FormatError(fmt::format("{}: is not a file of a key", file.string()));
  }
  for (const char* key : {"kind", "name", "public"})
    if (!table.contains(key) || !table[key].is_string())
      throw FormatError(
          fmt::format("{}: is not a file of a key: {} is missing", file.string(), key));
  if (table["kind"] != word_of(kind))
    throw FormatError(fmt::format("{}: is not the key of {} {}", file.string(),
                                  kind == KeyKind::site ? "a" : "an", word_of(kind)));
  if (!is_key(table["public"].get<std::string>()))
    throw FormatError(fmt::format("{}: is damaged: public is no key", file.string()));
  return table;
}

}  // namespace

std::string to_z85(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < 4; ++k) value = value << 8 | raw(bytes)[i + k];
    std::array<char, 5> block{};
    for (std::size_t k = 5; k-- > 0; value /= 85) block[k] = digits[value % 85];
    text.append(block.data(), block.size());
  }
  return text;
}

std::string from_z85(std::string_view text) {
  if (text.size() % 5 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 5) {
    std::uint64_t value = 0;
    for (std::size_t k = 0; k < 5; ++k) {
      const std::size_t digit = digits.find(text[i + k]);
      if (digit == std::string_view::npos) return {};
      value = value * 85 + digit;
    }
    if (value > 0xffffffffu) return {};
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(value >> shift & 0xff));
  }
  return bytes;
}

bool is_key(std::string_view text) {
  return from_z85(text).size() == key_bytes;
}

void check_key_name(const std::string& name, std::string_view what) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > 63 || name.front() == '.' || name.front() == '-' ||
      !std::ranges::all_of(name, fits))
    throw UsageError(
        fmt::format("{} \"{}\": allowed are up to 63 letters, digits, \".\", \"_\", \"-\", and no "
                    "\".\" or \"-\" in front",
                    what, printable(name)));
}

KeyPair make_keys(KeyKind kind, const std::string& name) {
  std::string secret(key_bytes, '\0');
  if (RAND_priv_bytes(raw(secret), static_cast<int>(secret.size())) != 1)
    throw UnavailableError("OpenSSL gave no random numbers");
  KeyPair keys{kind, name, to_z85(public_part(kind, secret)), to_z85(secret)};
  OPENSSL_cleanse(secret.data(), secret.size());
  return keys;
}

void write_keys(const KeyPair& keys, const fs::path& folder) {
  const fs::path secret = folder / (keys.name + ".key"), open = folder / (keys.name + ".pub");
  for (const fs::path& file : {secret, open})
    if (std::error_code ignored; fs::exists(fs::symlink_status(file, ignored)))
      throw UsageError(
          fmt::format("{}: is there already, and a key is never overwritten; remove it "
                      "if nobody uses it any more, or take another name",
                      file.string()));
  const std::string head = fmt::format("kind = \"{}\"\nname = \"{}\"\npublic = \"{}\"\n",
                                       word_of(keys.kind), keys.name, keys.public_key);
  write_secret(secret, fmt::format("# The secret key of {} {}: it stays where it was made.\n{}"
                                   "secret = \"{}\"\n",
                                   word_of(keys.kind), keys.name, head, keys.secret));
  write_atomically(open, head);
}

KeyPair read_keys(const fs::path& file, KeyKind kind) {
  struct stat found {};
  if (::stat(file.c_str(), &found) == 0 && (found.st_mode & 077) != 0 && S_ISREG(found.st_mode))
    throw ConfigError(
        fmt::format("{}: others can read this secret key (mode {:04o}); allowed is "
                    "0600: chmod 600 {}",
                    file.string(), found.st_mode & 07777, file.string()));
  const json table = read_key_table(file, kind);
  KeyPair keys{kind, table["name"], table["public"], ""};
  if (table.contains("secret") && table["secret"].is_string()) keys.secret = table["secret"];
  const std::string secret = from_z85(keys.secret);
  if (secret.empty())
    throw FormatError(
        fmt::format("{}: holds no secret key; expected the file NAME.key", file.string()));
  if (secret.size() != key_bytes || to_z85(public_part(kind, secret)) != keys.public_key)
    throw FormatError(
        fmt::format("{}: is damaged: its two keys do not belong together", file.string()));
  return keys;
}

std::string read_public_key(const fs::path& file, KeyKind kind) {
  return read_key_table(file, kind)["public"].get<std::string>();
}

std::string sign(const KeyPair& keys, std::string_view bytes) {
  const Key key = secret_key(KeyKind::owner, from_z85(keys.secret));
  const Context context(EVP_MD_CTX_new());
  std::string signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), raw(signature), &size, raw(bytes), bytes.size()) != 1)
    throw UnavailableError("OpenSSL could not sign");
  return to_z85(signature);
}

bool verify_signature(const std::string& public_key, std::string_view bytes,
                      const std::string& signature) {
  const std::string key_raw = from_z85(public_key), signed_raw = from_z85(signature);
  if (key_raw.size() != key_bytes || signed_raw.size() != signature_bytes) return false;
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw(key_raw), key_bytes));
  const Context context(EVP_MD_CTX_new());
  return key && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), raw(signed_raw), signed_raw.size(), raw(bytes),
                          bytes.size()) == 1;
}

}  // namespace ticopd
