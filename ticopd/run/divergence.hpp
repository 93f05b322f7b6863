#pragma once

#include <optional>
#include <string>

#include "ticopd/network/any_network.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// A figure that no run which converges has.
struct Runaway {
  std::string what;  // "loss_max = nan"
};

// The loss that a row has: at all models, or each agent's own; empty at the level of rows.
std::optional<double> loss_of(const Metrics& m);

// The rule of divergence, one for `run`, `compare`, `tune` and solve(): a loss beyond a billion
// times the first one, any figure that is not finite, or a model beyond all bounds (below). An
// empty first loss is not compared with.
std::optional<Runaway> runaway_metric(const Metrics& m, const std::optional<double>& first_loss);

// A model that is not finite, or absurdly large: far cheaper than to measure. Every rank calls it
// and gets the same.
template <class T>
std::optional<Runaway> runaway_model(AnyNetwork<T>& net, const Field<T>& x);

extern template std::optional<Runaway> runaway_model(AnyNetwork<float>&, const Field<float>&);
extern template std::optional<Runaway> runaway_model(AnyNetwork<double>&, const Field<double>&);

}  // namespace ticopd
