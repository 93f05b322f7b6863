#pragma once

#include <string>
#include <vector>

#include "ticopd/option.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

// Keys that belong to no codec, graph, objective, data format or algorithm. Names are dotted:
// "log.points".
Table<OptionInfo>& plain_keys();

// A key of a config, with its dotted name.
struct KeyInfo : OptionInfo {
  std::vector<std::string> takers = {};  // the kinds that read it; none: all do
};

// Every key there is, but for the parameters of the algorithms, which their headers declare: plain
// keys, and the options of codecs, graphs, objectives and data formats. Made anew at each call,
// since the tables may have grown.
std::vector<KeyInfo> config_keys();

}  // namespace ticopd
