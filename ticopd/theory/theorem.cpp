#include "ticopd/theory/theorem.hpp"

#include <algorithm>
#include <stdexcept>

namespace ticopd {

Theorem::Theorem(const TheoremInput& input) : in_(input) {
  const auto& [n, rho_1, rho_2, delta, L, eta, a] = in_;
  if (n < 2 || !(rho_2 > 0) || !(rho_1 >= rho_2) || !(delta > 0 && delta <= 1) || !(L >= 0) ||
      !(eta > 0) || !(a > 0))
    throw std::invalid_argument("no input of Theorem 1");
  const double left = (1 - delta) * (1 - delta);  // after one exchange
  const double half = (1 - delta / 2) * (1 - delta / 2);
  delta_tilde_ = std::max(left * half / (half - left), 1.0);
  delta_2_ = std::max(16 * eta / delta, 1.0);
  delta_1_ = 12 * std::max({2.0, 2 / (rho_2 * eta), delta_2_ * delta_tilde_});
  theta_lb_ = std::max(4 * L * L / (n * rho_2 * a),
                       2 / rho_2 *
                           (1 + 2 * L + 8 * eta * rho_1 * rho_1 / rho_2 +
                            delta_1_ * (1.5 + 3 * L * L + eta * rho_1 + rho_1 * rho_1 / 2)));
}

double Theorem::alpha_ub(double theta) const {
  // M = rho_1, so the third term of the minimum is the first.
  const double M2 = in_.rho_1 * in_.rho_1;
  return std::max(16 * in_.eta, in_.delta) / (320 * theta * theta) *
         std::min(1 / M2, in_.agents * in_.a / M2);
}

}  // namespace ticopd
