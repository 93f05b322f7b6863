#pragma once

#include <string>

#include "network/every_algorithm.hpp"
#include "ticopd/sim/play.hpp"

namespace ticopd::dense {

// A small problem over three simulated sites.
template <class T>
struct Simulated {
  explicit Simulated(const std::string& name, const CodecOptions& codec = {.kind = "qsgd"})
      : setup{.graph = graph_for(name, ring(6)),
              .objective = std::make_shared<LeastSquares<T>>(ProblemSize{6, 10, 4}),
              .codec = make_codec<T>(codec_for(name, codec)),
              .iterations = 20,
              .watch = {.rounds = {.every = 4}}},
        run(algorithm<T>(name, setup.graph)),
        problem{run, setup, 3, solve(run, setup).digest} {}

  Setup<T> setup;
  RunFactory<T> run;
  SimProblem<T> problem;
};

// The same with three more rosters: other addresses; a second epoch without a site, over another
// graph; a third one with a new site.
template <class T>
struct Changed : Simulated<T> {
  explicit Changed(const std::string& name, double drop = 0)
      : Simulated<T>(name),
        fewer(part(name, ring(4), drop)),
        more(part(name, complete(5), drop)),
        fewer_run(algorithm<T>(name, fewer.graph)),
        more_run(algorithm<T>(name, more.graph)) {
    this->setup.links.drop = drop;
    this->problem.digest = solve(this->run, this->setup).digest;
    this->problem.later.push_back({this->run, this->setup, {"site-0", "site-1", "site-2"}, 1});
    if (name == "choco_gossip") return;  // its model is its data: `sign` refuses
    this->problem.later.push_back({fewer_run, fewer, {"site-0", "site-2"}, 2});
    this->problem.later.push_back({more_run, more, {"site-0", "site-2", "site-3"}, 3});
  }
  static Setup<T> part(const std::string& name, const Graph& graph, double drop) {
    const Graph g = graph_for(name, graph);
    return {.graph = g,
            .objective = std::make_shared<LeastSquares<T>>(ProblemSize{g.agents(), 10, 4}),
            .codec = make_codec<T>(codec_for(name, {.kind = "qsgd"})),
            .links = {.drop = drop},
            .iterations = 20,
            .watch = {.rounds = {.every = 4}}};
  }
  Setup<T> fewer, more;
  RunFactory<T> fewer_run, more_run;
};

}  // namespace ticopd::dense
