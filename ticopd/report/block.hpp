#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ticopd {

using Cells = std::vector<std::string>;

// One block of the terminal's table: labels on the left, number columns on the right.
struct Block {
  Cells labels;
  Cells heads;                                             // of the number columns
  std::vector<std::pair<std::string, std::size_t>> spans;  // title, columns below it
  std::vector<Cells> rows;                                 // numbers, one row per label
};

// In lines of at most `width` characters, as far as the numbers allow: labels are shortened.
std::string to_text(const Block& block, std::size_t width);

}  // namespace ticopd
