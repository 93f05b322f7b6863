#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/site/keys.hpp"

// Who signs the rosters of a network: its first operator, whom every site pins, or the last of
// those whom one operator after the other has named. The network's number stays that of the first,
// so a run goes on.
namespace ticopd {

// An entry [[operator]] of a roster.
struct Successor {
  std::string key;        // of the operator who signs from now on
  std::string by;         // of the operator before, who says so
  std::string signature;  // ... by this signature
  bool operator==(const Successor&) const = default;
};

// Says with `before`'s secret that `key` is the next operator's.
Successor hand_over(const KeyPair& before, const std::string& key);
std::string successor_text(const Successor& successor);  // the entry

// The entries of a roster's tree, whose signature need not be checked yet. FormatError unless each
// follows the one before it.
std::vector<Successor> successors_of(const nlohmann::json& roster, const std::string& name);

// The key that must have signed the roster. ConfigError if the first entry does not follow `first`.
std::string signer_of(const std::vector<Successor>& successors, const std::string& first,
                      const std::string& name);

}  // namespace ticopd
