#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// What may go wrong in a simulated network.
struct FaultKind {
  std::string_view name, help;
};
std::span<const FaultKind> fault_kinds();

// Some of them; all, if a program says nothing.
class Faults {
 public:
  Faults();
  // "kill,loss": ConfigError names the nearest kind. "all" and "none" are allowed.
  static Faults parse(const std::string& words);

  bool has(std::string_view kind) const;
  const std::vector<std::string>& kinds() const { return kinds_; }

 private:
  std::vector<std::string> kinds_;
};

}  // namespace ticopd
