#pragma once

#include "ticopd/run/setup.hpp"

namespace ticopd {

// The parts of a network, of a run with this setup. The setup must outlive it.
template <class T>
Surroundings<T> surroundings_of(const Setup<T>& s, Transport& transport, Pool& pool) {
  return {.graph = s.graph,
          .objective = *s.objective,
          .codec = *s.codec,
          .transport = transport,
          .pool = pool,
          .weights = s.weights,
          .seed = s.seed,
          .problem_seed = s.problem_seed,
          .start_of = s.start_of,
          .batch = s.batch,
          .links = s.links,
          .channel_noise = s.channel_noise,
          .metric_scope = s.watch.scope,
          .stop = s.watch.stop,
          .blocks = s.execution.blocks};
}

}  // namespace ticopd
