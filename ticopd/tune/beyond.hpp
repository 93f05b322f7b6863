#pragma once

#include <string>

#include "ticopd/tune/trials.hpp"

namespace ticopd {

// The figures of a state that tell whether a run grows.
struct Figures {
  double loss = NAN, grad_norm2 = NAN, accuracy = NAN;  // nan: not measured
};

// Says why a run that had done well until `then` is worse at `now`, after twice the rounds; empty
// if it is not. It grew if
// - its loss rose by more than 5 % of the difference between `then` and the start (or of a tenth of
//   the loss at the start, if that is more),
// - its squared gradient norm is more than 4 times as large, and above a thousandth of the first,
// or
// - its worst accuracy fell by more than 0.02.
std::string why_grown(const Figures& start, const Figures& then, const Figures& now);

}  // namespace ticopd
