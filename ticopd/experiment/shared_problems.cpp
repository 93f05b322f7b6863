#include "ticopd/experiment/shared_problems.hpp"

#include <nlohmann/json.hpp>

#include "ticopd/experiment/options.hpp"

namespace ticopd {

std::string problem_key(const Config& config, int agents) {
  nlohmann::json problem = config.tree()["problem"];
  problem.erase("batch");  // drawn later, by each run
  problem["seed"] = problem_seed(config);
  return nlohmann::json{problem, agents, config.get<std::string>("precision"),
                        config.folder().string()}
      .dump();
}

}  // namespace ticopd
