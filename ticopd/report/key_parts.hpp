#pragma once

#include <span>
#include <string>
#include <vector>

#include "ticopd/report/curve.hpp"
#include "ticopd/report/pen.hpp"

namespace ticopd {

// A shorter legend for many curves: a line for each colour, and one for each dash. Eight methods
// with five codecs each are 13 lines in place of 40.
struct KeyParts {
  std::vector<std::string> names;
  std::vector<Pen> pens;
};

// Every label must be "FIRST, SECOND", its colour must belong to the first part alone and its dash
// to the second alone; else empty, and so it is if nothing would become shorter.
KeyParts key_parts(std::span<const Curve> curves, const FigureOptions& options);

}  // namespace ticopd
