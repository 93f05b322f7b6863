#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ticopd {

// A part of a line that may be too long for its terminal.
struct LinePart {
  std::string text;
  int priority = 0;          // the part with the lowest number gets its place first
  std::size_t shortest = 0;  // may be cut to so many characters; 0: all of it or nothing
  int needs = -1;            // priority of the part without which this one says nothing; -1: none
};

// The parts in their order, two blanks apart, in at most `width` characters. Parts get their place
// by priority; a part is left out only if it does not fit in what is then left. A part that can be
// cut takes what is left.
std::string fitted_line(std::span<const LinePart> parts, std::size_t width);

}  // namespace ticopd
