#pragma once

#include <span>
#include <string>
#include <vector>

#include "ticopd/option.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

// A key of a config, with its dotted name: "log.points".
struct KeyInfo : OptionInfo {
  std::vector<std::string> takers = {};    // the kinds that read it; none: all do
  std::vector<std::string> choosers = {};  // the keys whose value is a kind: codec.kind, codec.then
  std::vector<std::string> finders = {};   // the kinds that find the value if it is left out
  bool for_samples = false;                // means nothing to an objective that a program brings
  bool for_one_source = false;  // means nothing if problem.data has {agent}: nothing is divided
};

// Keys that belong to no codec, graph, objective, data format or algorithm.
Table<KeyInfo>& plain_keys();

// Every key there is, but for the parameters of the algorithms, which their headers declare: plain
// keys, and the options of codecs, graphs, objectives and data formats. Made anew at each call,
// since the tables may have grown.
std::vector<KeyInfo> config_keys();

// ConfigError for a key that no config has; it names the nearest one.
[[noreturn]] void refuse_unknown_key(const std::string& key, std::span<const KeyInfo> keys);

}  // namespace ticopd
