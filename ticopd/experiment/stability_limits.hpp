#pragma once

#include "ticopd/experiment/analysis.hpp"

namespace ticopd {

// TiCoPD's step sizes at round 1, beta as derived where it is not given.
Analysis::Steps configured_steps(const Config& config, double lambda_max);

// The stability limits that step sizes meet long before the theorem's, with the first named the
// cheapest to check. Those of eta and of the sum are exact for quadratics without compression: on
// a mode of curvature h and Laplacian eigenvalue mu a round is
//   (x, lambda) <- ((1 - alpha (h + theta mu)) x - alpha lambda, lambda + eta mu x),
// and both eigenvalues of that lie inside the unit circle where eta < theta + h / mu and
// alpha (h + (theta - eta / 2) mu) < 2.
std::vector<Analysis::Limit> stability_limits(const Analysis& s);

// What of a network the theorem does not speak of; empty where it does.
std::string beyond_theorem(const LinkSchedule& links, const ChannelNoise& noise, std::size_t batch);

// Why the theorem says nothing with the codec's own bound; empty where it does.
std::string why_no_theorem(const Analysis& s);

}  // namespace ticopd
