#include "ticopd/sim/faults.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

constexpr std::array table{
    FaultKind{"loss", "messages are lost"},
    FaultKind{"duplicate", "messages come twice"},
    FaultKind{"reorder", "messages overtake each other"},
    FaultKind{"partition", "sites do not hear each other for a while, both ways or one way"},
    FaultKind{"pause", "a process stands still for a while"},
    FaultKind{"kill", "a process dies between any two calls, or all of them at once"},
    FaultKind{"power", "the same, and files that were not flushed are lost or torn"},
    FaultKind{"full", "a disk is full for a while"},
    FaultKind{"fsync", "a flush of a file fails"},
    FaultKind{"flip", "a bit of the newest checkpoint flips"},
    FaultKind{"backup", "an old copy of a site's folder is put back"},
    FaultKind{"away", "a process is down for a long time"},
    FaultKind{"clone", "a second process runs on a copy of a site's folder"},
    FaultKind{"roster", "new rosters are handed to one of the sites: addresses, members, epochs"},
};

}  // namespace

std::span<const FaultKind> fault_kinds() {
  return table;
}

Faults::Faults() {
  for (const FaultKind& k : table) kinds_.emplace_back(k.name);
}

Faults Faults::parse(const std::string& words) {
  Faults faults;
  if (words == "all") return faults;
  faults.kinds_.clear();
  if (words == "none") return faults;
  std::vector<std::string_view> allowed{"all", "none"};
  for (const FaultKind& k : table) allowed.push_back(k.name);
  std::istringstream list(words);
  for (std::string word; std::getline(list, word, ',');) {
    if (std::ranges::find(fault_kinds(), word, &FaultKind::name) == fault_kinds().end())
      throw ConfigError(not_allowed("--faults", word, allowed));
    faults.kinds_.push_back(word);
  }
  return faults;
}

bool Faults::has(std::string_view kind) const {
  return std::ranges::find(kinds_, kind) != kinds_.end();
}

}  // namespace ticopd
