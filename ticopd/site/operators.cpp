#include "ticopd/site/operators.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/system/text.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// No roster is written so: a signature of the one is none of the other.
std::string statement(const std::string& key) {
  return "ticopd: the next operator is " + key;
}

}  // namespace

Successor hand_over(const KeyPair& before, const std::string& key) {
  if (key == before.public_key)
    throw ConfigError(
        "the next operator has the same key; make another with `ticopd network "
        "keygen NAME --operator`");
  return {key, before.public_key, sign(before, statement(key))};
}

std::string successor_text(const Successor& s) {
  return fmt::format("\n[[operator]]\nkey = \"{}\"\nby = \"{}\"\nsignature = \"{}\"\n", s.key, s.by,
                     s.signature);
}

std::vector<Successor> successors_of(const json& roster, const std::string& name) {
  std::vector<Successor> all;
  const json entries = roster.is_object() ? roster.value("operator", json::array()) : json::array();
  const auto refuse = [&](const std::string& what) {
    throw FormatError(fmt::format("{}: operator {}: {}", name, all.size() + 1, what));
  };
  if (!entries.is_array()) refuse("is no table; expected [[operator]]");
  for (const json& entry : entries) {
    if (!entry.is_object()) refuse("is no table");
    const auto word = [&](const char* key) {
      if (!entry.contains(key) || !entry[key].is_string())
        refuse(fmt::format("{} is missing, or is no text", key));
      return entry[key].get<std::string>();
    };
    Successor s{word("key"), word("by"), word("signature")};
    if (entry.size() != 3) refuse("has other keys than key, by and signature");
    if (!all.empty() && s.by != all.back().key) refuse("does not follow the one before it");
    if (!is_key(s.key) || !verify_signature(s.by, statement(s.key), s.signature))
      refuse(fmt::format("the operator {} has not named this key; `ticopd network hand-over` does",
                         printable(s.by)));
    all.push_back(std::move(s));
  }
  return all;
}

std::string signer_of(const std::vector<Successor>& successors, const std::string& first,
                      const std::string& name) {
  if (successors.empty()) return first;
  if (successors.front().by != first)
    throw ConfigError(
        fmt::format("{}: its first operator is {}, and this site follows the operator {}", name,
                    printable(successors.front().by), first));
  return successors.back().key;
}

}  // namespace ticopd
