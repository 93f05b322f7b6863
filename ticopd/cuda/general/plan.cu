#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "ticopd/cuda/general/blas.hpp"
#include "ticopd/cuda/general/data.hpp"
#include "ticopd/cuda/general/plan.hpp"
#include "ticopd/cuda/gradients/objective.hpp"
#include "ticopd/error.hpp"

namespace ticopd::cuda {
namespace general {
namespace {

constexpr std::size_t most_expanded_bytes = std::size_t{8} << 30;

// Sparse samples become dense floats. This is checked before anything is allocated.
void refuse_if_too_large(const Problem& problem) {
  std::size_t bytes = 0;
  const auto add = [&](const Dataset<float>& set) {
    if (std::holds_alternative<SparseRows<float>>(set.raw()))
      bytes += set.samples() * set.features() * sizeof(float);
  };
  for (const Dataset<float>& shard : problem.shards) add(shard);
  add(problem.test);
  if (bytes > most_expanded_bytes)
    throw UnavailableError("--device cuda keeps sparse samples as dense floats: these would be " +
                           std::to_string(bytes >> 30) + " GiB, at most " +
                           std::to_string(most_expanded_bytes >> 30) +
                           " GiB are allowed; --device cpu keeps them sparse");
}

std::size_t longest(const Used& used) {
  std::size_t most = 0;
  for (const auto& list : used) most = std::max(most, list.size());
  return most;
}

}  // namespace

GradientPlan::GradientPlan(const Problem& problem) : model(problem) {
  refuse_if_too_large(problem);
  std::vector<std::size_t> sizes;
  for (const Dataset<float>& shard : problem.shards) sizes.push_back(shard.samples());
  for (std::vector<std::size_t>& agents : group_by_size(sizes)) {
    AgentGroup group{.agents = std::move(agents)};
    for (const std::size_t agent : group.agents) {
      group.used.push_back(used_features(model, problem.shards[agent]));
      group.most = std::max(group.most, sizes[agent]);
    }
    group.layout = make_sample_layout(model, group.agents.size(), group.most, longest(group.used));
    room.cover(room_for(model, group.layout, true));
    groups.push_back(std::move(group));
  }
  if (problem.loss == Problem::Loss::least_squares || problem.test.samples() == 0) return;
  test_used = {used_features(model, problem.test)};
  test = make_test_tiles(model, problem.agents(), problem.test.samples(), longest(test_used));
  room.cover(room_for(model, test.layout, false));
}

bool GradientPlan::draws(std::size_t batch) const {
  std::size_t most = 0;
  for (const AgentGroup& group : groups) most = std::max(most, group.most);
  return batch > 0 && batch < most;
}

SampleLayout GradientPlan::batch_layout(const AgentGroup& group, std::size_t batch) const {
  return make_sample_layout(model, group.layout.slots, std::min(group.most, batch),
                            group.layout.features);
}

std::size_t GradientPlan::bytes(std::size_t batch) const {
  std::size_t bytes = room.bytes() + Blas::workspace_bytes;
  for (const AgentGroup& group : groups)
    bytes += DeviceSamples::bytes(model, group.layout, true) +
             group.agents.size() * (sizeof(std::uint32_t) + sizeof(double));
  for (const AgentGroup& group : groups)
    if (draws(batch))
      bytes += DeviceSamples::bytes(model, batch_layout(group, batch), true) +
               group.agents.size() * sizeof(double);
  if (test.tiles > 0) bytes += DeviceSamples::bytes(model, test_samples(), false);
  return bytes;
}

}  // namespace general

std::size_t general_objective_bytes(const Problem& problem, std::size_t batch) {
  return general::GradientPlan(problem).bytes(batch);
}

}  // namespace ticopd::cuda
