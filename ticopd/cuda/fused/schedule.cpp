#include <algorithm>

#include "ticopd/cuda/fused/pixel_layout.hpp"

namespace ticopd::cuda::fused {
namespace {

using Tiles = std::vector<ForwardTile>;

// In units of one chunk of the main loop. The work after it takes about as long as 20 chunks
// (measured).
double cost(const ForwardTile& tile) {
  return tile.chunks + 20.0;
}

// Gives each of the agent's tiles, which come in falling order of cost, to the cluster with the
// least work so far.
std::vector<Tiles> spread(const Tiles& tiles, std::size_t clusters, double& worst) {
  std::vector<Tiles> bins(clusters);
  std::vector<double> load(clusters, 0.0);
  for (const ForwardTile& tile : tiles) {
    const auto least = std::min_element(load.begin(), load.end());
    bins[static_cast<std::size_t>(least - load.begin())].push_back(tile);
    *least += cost(tile);
  }
  worst = *std::max_element(load.begin(), load.end());
  return bins;
}

// Every cluster works for one agent, so it reads parameters and writes a partial dW2 only once:
// mixed clusters took twice as long. One cluster after the other goes to the agent that would end
// last.
std::vector<Tiles> one_agent_each(const std::vector<Tiles>& agents, std::size_t clusters) {
  std::vector<std::size_t> given(agents.size(), 1);
  std::vector<double> worst(agents.size());
  for (std::size_t i = 0; i < agents.size(); ++i) spread(agents[i], 1, worst[i]);
  for (std::size_t b = agents.size(); b < clusters; ++b) {
    const auto i =
        static_cast<std::size_t>(std::max_element(worst.begin(), worst.end()) - worst.begin());
    if (given[i] == agents[i].size()) break;  // a tile each: one more would not help
    spread(agents[i], ++given[i], worst[i]);
  }
  std::vector<Tiles> all;
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto bins = spread(agents[i], given[i], worst[i]);
    all.insert(all.end(), bins.begin(), bins.end());
  }
  return all;
}

// For more agents than clusters: one sequence of all tiles, cut into parts of equal cost.
std::vector<Tiles> cut(const std::vector<Tiles>& agents, std::size_t clusters) {
  double total = 0, done = 0;
  for (const Tiles& tiles : agents)
    for (const ForwardTile& tile : tiles) total += cost(tile);
  std::vector<Tiles> parts(clusters);
  for (const Tiles& tiles : agents)
    for (const ForwardTile& tile : tiles) {
      const double middle = done + cost(tile) / 2;
      const auto part = static_cast<std::size_t>(middle / total * static_cast<double>(clusters));
      parts[std::min(part, clusters - 1)].push_back(tile);
      done += cost(tile);
    }
  return parts;
}

using Pieces = std::vector<BackwardPiece>;

// The cost of a piece besides its chunks, in chunks: its sum is folded and stored.
constexpr std::int64_t piece_cost = 4;

// One sequence of all chunks, from which block after block takes its share. A piece ends at the end
// of its row, and when it has as many chunks as it can.
std::vector<Pieces> deal(const Pieces& rows, std::int64_t share) {
  std::vector<Pieces> blocks;
  std::int64_t left = 0;  // of the last block's share
  for (BackwardPiece row : rows)
    while (row.count > 0) {
      if (left <= piece_cost) {
        blocks.emplace_back();
        left = share;
      }
      BackwardPiece piece = row;
      piece.count = static_cast<std::int32_t>(
          std::min<std::int64_t>({row.count, left - piece_cost, max_piece}));
      blocks.back().push_back(piece);
      row.first += piece.count;
      row.image += piece.count;
      row.count -= piece.count;
      left -= piece_cost + piece.count;
    }
  return blocks;
}

}  // namespace

void schedule_forward(const std::vector<ForwardTile>& tiles, int clusters, PixelLayout& layout) {
  const std::size_t agents = layout.counts.agents;
  std::vector<Tiles> by_agent(agents);
  for (const ForwardTile& tile : tiles)
    by_agent[static_cast<std::size_t>(tile.agent)].push_back(tile);
  const auto most = static_cast<std::size_t>(clusters);
  auto parts = agents <= most ? one_agent_each(by_agent, most) : cut(by_agent, most);

  // Clusters come in the order of agents: an agent's partial sums get consecutive slots.
  layout.w2_slots.assign(agents, {0, 0});
  layout.forward_begin = {0};
  std::int32_t slot = 0;
  for (Tiles& part : parts) {
    if (part.empty()) continue;
    for (std::size_t k = 0; k < part.size(); ++k) {
      // Two warp groups take turns, so the next tile of this group is the one after the next.
      if (k + 2 < part.size() && part[k + 2].agent == part[k].agent) continue;
      Slots& slots = layout.w2_slots[static_cast<std::size_t>(part[k].agent)];
      if (slots.count == 0) slots.first = slot;
      slots.count += cluster_blocks;
      part[k].flush = slot;
      slot += cluster_blocks;
    }
    layout.forward.insert(layout.forward.end(), part.begin(), part.end());
    layout.forward_begin.push_back(static_cast<std::int32_t>(layout.forward.size()));
  }
  layout.counts.w2_partials = static_cast<std::size_t>(slot);
}

void schedule_backward(const std::vector<BackwardPiece>& rows, int blocks, PixelLayout& layout) {
  std::int64_t total = 0;
  for (const BackwardPiece& row : rows) total += row.count + piece_cost;
  std::int64_t share = std::max(total / blocks, piece_cost + 1);
  std::vector<Pieces> parts = deal(rows, share);
  while (parts.size() > static_cast<std::size_t>(blocks)) parts = deal(rows, ++share);

  layout.w1_slots.assign(layout.counts.agents * max_rank_tiles, {0, 0});
  layout.backward_begin = {0};
  for (Pieces& part : parts) {
    for (BackwardPiece& piece : part) {
      piece.slot = static_cast<std::int32_t>(layout.backward.size());
      Slots& slots =
          layout.w1_slots[static_cast<std::size_t>(piece.agent * max_rank_tiles + piece.rank_tile)];
      if (slots.count++ == 0) slots.first = piece.slot;
      layout.backward.push_back(piece);
    }
    layout.backward_begin.push_back(static_cast<std::int32_t>(layout.backward.size()));
  }
  layout.counts.w1_partials = layout.backward.size();
}

}  // namespace ticopd::cuda::fused
