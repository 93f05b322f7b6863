#pragma once

#include "ticopd/experiment/analysis.hpp"

namespace ticopd {

// TiCoPD's step sizes at round 1. If beta is not given, it is derived.
Analysis::Steps configured_steps(const Config& config, double lambda_max);

// The stability limits in practice: step sizes reach them long before they reach the theorem's
// bounds. The cheapest to check comes first. Those of eta and of the sum are exact for quadratics
// without compression: on a mode of curvature h and Laplacian eigenvalue mu a round is
//   (x, lambda) <- ((1 - alpha (h + theta mu)) x - alpha lambda, lambda + eta mu x),
// and both eigenvalues of this map lie inside the unit circle if eta < theta + h / mu and
// alpha (h + (theta - eta / 2) mu) < 2.
std::vector<Analysis::Limit> stability_limits(const Analysis& s);

// Why the theorem does not cover such a network; empty if it does.
std::string beyond_theorem(const LinkSchedule& links, const ChannelNoise& noise, std::size_t batch);

// Why the theorem does not apply with the codec's own bound; empty if it does.
std::string why_no_theorem(const Analysis& s);

}  // namespace ticopd
