#include <algorithm>
#include <numeric>

#include "ticopd/cuda/fused_layout.hpp"

namespace ticopd::cuda::fused {
namespace {

using Tiles = std::vector<ForwardTile>;

// In units of one chunk of the main loop: a tile also has an epilogue (measured: about 12 chunks).
double cost(const ForwardTile& tile) {
  return tile.chunks + 12.0;
}

// The agent's tiles, which come in falling order of cost, each to the block with the least so far.
std::vector<Tiles> spread(const Tiles& tiles, std::size_t blocks, double& worst) {
  std::vector<Tiles> bins(blocks);
  std::vector<double> load(blocks, 0.0);
  for (const ForwardTile& tile : tiles) {
    const auto least = std::min_element(load.begin(), load.end());
    bins[static_cast<std::size_t>(least - load.begin())].push_back(tile);
    *least += cost(tile);
  }
  worst = *std::max_element(load.begin(), load.end());
  return bins;
}

// Every block works for one agent, so it reads parameters and writes a partial dW2 once: mixed
// blocks took twice as long. Block after block goes to the agent that would end last.
std::vector<Tiles> one_agent_a_block(const std::vector<Tiles>& agents, std::size_t blocks) {
  std::vector<std::size_t> given(agents.size(), 1);
  std::vector<double> worst(agents.size());
  for (std::size_t i = 0; i < agents.size(); ++i) spread(agents[i], 1, worst[i]);
  for (std::size_t b = agents.size(); b < blocks; ++b) {
    const auto i =
        static_cast<std::size_t>(std::max_element(worst.begin(), worst.end()) - worst.begin());
    if (given[i] == agents[i].size()) break;  // a tile each: no block more would help
    spread(agents[i], ++given[i], worst[i]);
  }
  std::vector<Tiles> all;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto bins = spread(agents[i], given[i], worst[i]);
    all.insert(all.end(), bins.begin(), bins.end());
  }
  return all;
}

// More agents than blocks: one line of all tiles, cut into parts of equal cost.
std::vector<Tiles> cut(const std::vector<Tiles>& agents, std::size_t blocks) {
  double total = 0, done = 0;
  for (const Tiles& tiles : agents)
    for (const ForwardTile& tile : tiles) total += cost(tile);
  std::vector<Tiles> parts(blocks);
  for (const Tiles& tiles : agents)
    for (const ForwardTile& tile : tiles) {
      const double middle = done + cost(tile) / 2;
      const auto part = static_cast<std::size_t>(middle / total * static_cast<double>(blocks));
      parts[std::min(part, blocks - 1)].push_back(tile);
      done += cost(tile);
    }
  return parts;
}

}  // namespace

void schedule_forward(const std::vector<ForwardTile>& tiles, int blocks, Layout& layout) {
  const std::size_t agents = layout.counts.agents;
  std::vector<Tiles> by_agent(agents);
  for (const ForwardTile& tile : tiles)
    by_agent[static_cast<std::size_t>(tile.agent)].push_back(tile);
  const auto most = static_cast<std::size_t>(blocks);
  auto parts = agents <= most ? one_agent_a_block(by_agent, most) : cut(by_agent, most);

  // Blocks come in the order of agents: an agent's partial sums get consecutive slots.
  layout.w2_slots.assign(agents, {0, 0});
  layout.forward_begin = {0};
  std::int32_t slot = 0;
  for (Tiles& part : parts) {
    if (part.empty()) continue;
    for (std::size_t k = 0; k < part.size(); ++k) {
      if (k + 1 < part.size() && part[k + 1].agent == part[k].agent) continue;
      Slots& slots = layout.w2_slots[static_cast<std::size_t>(part[k].agent)];
      if (slots.count++ == 0) slots.first = slot;
      part[k].flush = slot++;
    }
    layout.forward.insert(layout.forward.end(), part.begin(), part.end());
    layout.forward_begin.push_back(static_cast<std::int32_t>(layout.forward.size()));
  }
  layout.counts.w2_partials = static_cast<std::size_t>(slot);
}

// One line of all chunks, cut into equal parts, and a part where a row ends or is too long.
void schedule_backward(const std::vector<BackwardPiece>& rows, int blocks, Layout& layout) {
  const auto steps =
      std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                      [](std::int64_t sum, const BackwardPiece& row) { return sum + row.count; });
  layout.w1_slots.assign(layout.counts.agents * max_rank_tiles, {0, 0});
  layout.backward_begin = {0};
  std::size_t at = 0;     // row
  std::int32_t used = 0;  // chunks of it
  std::int64_t done = 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t until = steps * (b + 1) / blocks;
    if (done == until) continue;
    while (done < until) {
      BackwardPiece piece = rows[at];
      const std::int32_t left = piece.count - used;
      piece.count = static_cast<std::int32_t>(
          std::min<std::int64_t>({left, until - done, std::int64_t{max_piece}}));
      piece.first += used;
      piece.image += used;
      piece.slot = static_cast<std::int32_t>(layout.backward.size());
      Slots& slots =
          layout.w1_slots[static_cast<std::size_t>(piece.agent * max_rank_tiles + piece.rank_tile)];
      if (slots.count++ == 0) slots.first = piece.slot;
      layout.backward.push_back(piece);
      used += piece.count;
      done += piece.count;
      if (piece.count == left) {
        ++at;
        used = 0;
      }
    }
    layout.backward_begin.push_back(static_cast<std::int32_t>(layout.backward.size()));
  }
  layout.counts.w1_partials = layout.backward.size();
}

}  // namespace ticopd::cuda::fused
