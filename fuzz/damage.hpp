#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/random.hpp"

namespace ticopd {

// Damages files of any format, text or binary, without knowing it. The words of the seeds are what
// it puts in; so a key, a header or a magic number comes up where it did not belong.
class Damage {
 public:
  Damage(std::span<const std::string> seeds, std::size_t most_bytes);

  // One to four changes. `other` is another input, to take pieces from.
  void apply(std::string& input, std::string_view other, Random& random) const;

 private:
  void once(std::string& input, std::string_view other, Random& random) const;

  std::vector<std::string> words_;
  std::size_t most_bytes_;
};

}  // namespace ticopd
