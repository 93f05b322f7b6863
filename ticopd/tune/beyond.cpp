#include "ticopd/tune/beyond.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ticopd {
namespace {

constexpr double rise_of_loss = 0.05, progress_that_counts = 0.1;
constexpr double growth_of_gradient = 4, gradient_that_counts = 1e-3;
constexpr double fall_of_accuracy = 0.02;

std::string changed(const char* what, double then, double now) {
  return fmt::format("{} {:.4g} became {:.4g}", what, then, now);
}

}  // namespace

// A comparison with nan is false: what is not measured cannot grow.
std::string why_grown(const Figures& start, const Figures& then, const Figures& now) {
  // A run that has hardly moved yet is measured by where it began.
  const double progress =
      std::max(std::abs(start.loss - then.loss), progress_that_counts * std::abs(start.loss));
  if (now.loss - then.loss > rise_of_loss * progress) return changed("loss", then.loss, now.loss);
  if (now.grad_norm2 > growth_of_gradient * then.grad_norm2 &&
      now.grad_norm2 > gradient_that_counts * start.grad_norm2)
    return changed("squared gradient norm", then.grad_norm2, now.grad_norm2);
  if (then.accuracy - now.accuracy > fall_of_accuracy)
    return changed("accuracy", then.accuracy, now.accuracy);
  return {};
}

}  // namespace ticopd
