#include <algorithm>
#include <numeric>
#include <variant>

#include "ticopd/cuda/general/sizes.hpp"

namespace ticopd::cuda::general {
namespace {

constexpr std::size_t up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

// int8 products need a multiple of 16 bytes along the sum, and lanes are read as float4.
constexpr std::size_t sample_unit = 16;
// A chunk is long enough that its sums are worth a thread block each. It is short enough that there
// are blocks for every multiprocessor, and that fp32 sums over it stay exact to 3e-7.
constexpr std::size_t most_of_chunk = 1024;
// |digit| |pixel - 128| <= 2^14: sums over this many samples, with some padding, stay below 2^31.
constexpr std::size_t most_of_piece = 65536;
// The same for the product over features; with more of them, u8 features become floats.
constexpr std::size_t most_features_of_digits = 65536;

bool is_u8(const Dataset<float>& data) {
  return std::holds_alternative<std::vector<std::uint8_t>>(data.raw());
}

}  // namespace

Model::Model(const Problem& problem)
    : in_base256(problem.widths.front() <= most_features_of_digits),
      cross_entropy(problem.loss == Problem::Loss::cross_entropy),
      widths(problem.widths) {
  for (const Dataset<float>& shard : problem.shards) in_base256 = in_base256 && is_u8(shard);
  if (problem.test.samples() > 0) in_base256 = in_base256 && is_u8(problem.test);
}

std::size_t Model::weights_at(std::size_t layer) const {
  std::size_t at = 0;
  for (std::size_t l = 1; l < layer; ++l) at += widths[l] * (widths[l - 1] + 1);
  return at;
}

std::size_t Model::biases_at(std::size_t layer) const {
  return weights_at(layer) + widths[layer] * widths[layer - 1];
}

SampleLayout make_sample_layout(const Model& model, std::size_t slots, std::size_t samples,
                                std::size_t features) {
  SampleLayout layout;
  layout.slots = slots;
  layout.features = up(std::max<std::size_t>(features, 1), model.in_base256 ? 16 : 4);
  samples = std::max<std::size_t>(samples, 1);
  layout.pieces = (samples + most_of_piece - sample_unit - 1) / (most_of_piece - sample_unit);
  const std::size_t of_piece = (samples + layout.pieces - 1) / layout.pieces;
  layout.chunks = layout.pieces * ((of_piece + most_of_chunk - 1) / most_of_chunk);
  layout.chunk = up((samples + layout.chunks - 1) / layout.chunks, sample_unit);
  layout.samples = layout.chunk * layout.chunks;
  return layout;
}

std::vector<std::vector<std::size_t>> group_by_size(const std::vector<std::size_t>& samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto padded = [&](std::size_t agent) { return up(samples[agent], sample_unit); };
  std::size_t all = 0, most = 0;
  for (const std::size_t agent : order) {
    all += padded(agent);
    most = std::max(most, padded(agent));
  }
  constexpr double kept = 0.7;
  if (static_cast<double>(all) >= kept * static_cast<double>(most * samples.size())) return {order};
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return samples[a] > samples[b]; });
  std::vector<std::vector<std::size_t>> groups;
  for (const std::size_t agent : order) {
    if (groups.empty() || static_cast<double>(padded(agent)) <
                              kept * static_cast<double>(padded(groups.back().front())))
      groups.emplace_back();
    groups.back().push_back(agent);
  }
  return groups;
}

std::vector<std::uint32_t> used_features(const Model& model, const Dataset<float>& data) {
  const std::size_t features = data.features();
  std::vector<std::uint32_t> used;
  if (!model.in_base256) {
    used.resize(model.features());
    std::iota(used.begin(), used.end(), 0u);
    return used;
  }
  std::vector<std::uint8_t> any(features);
  const auto& pixels = std::get<std::vector<std::uint8_t>>(data.raw());
  for (std::size_t i = 0; i < data.samples(); ++i)
    for (std::size_t f = 0; f < features; ++f) any[f] |= pixels[i * features + f];
  for (std::size_t f = 0; f < features; ++f)
    if (any[f] != 0) used.push_back(static_cast<std::uint32_t>(f));
  return used;
}

TestTiles make_test_tiles(const Model& model, std::size_t models, std::size_t samples,
                          std::size_t features) {
  constexpr std::size_t most_of_tile = 16384;
  constexpr std::size_t most_sums = std::size_t{1} << 26;  // a quarter of a GiB at a time
  TestTiles plan;
  if (samples == 0) return plan;
  const std::size_t tile = std::min(samples, most_of_tile);
  const std::size_t of_one = up(tile, sample_unit) * model.units() * (model.in_base256 ? 3 : 1);
  plan.layout = make_sample_layout(
      model, std::clamp<std::size_t>(most_sums / of_one, 1, std::max<std::size_t>(models, 1)), tile,
      features);
  plan.tiles = (samples + plan.layout.samples - 1) / plan.layout.samples;
  return plan;
}

void Room::cover(const Room& other) {
  const auto most = [](std::size_t& mine, std::size_t theirs) { mine = std::max(mine, theirs); };
  most(weights, other.weights);
  most(unit_scales, other.unit_scales);
  most(sums, other.sums);
  most(hidden, other.hidden);
  most(logits, other.logits);
  most(deltas, other.deltas);
  most(delta_digits, other.delta_digits);
  most(delta_sums, other.delta_sums);
  most(fragments, other.fragments);
  most(partial, other.partial);
  most(losses, other.losses);
}

std::size_t Room::bytes() const {
  return weights + unit_scales * (2 * sizeof(double) + 4 * sizeof(std::int32_t)) + sums * 4 +
         hidden * sizeof(float) + logits * sizeof(double) + deltas * sizeof(float) + delta_digits +
         delta_sums * 4 * sizeof(std::int32_t) + fragments * 16 + partial * sizeof(float) +
         losses * sizeof(double);
}

Room room_for(const Model& model, const SampleLayout& layout, bool gradients) {
  Room room;
  const std::size_t rows = layout.slots * model.units(), lanes = layout.slots * layout.samples;
  room.weights = rows * layout.features * (model.in_base256 ? 3 : sizeof(float));
  room.unit_scales = rows;
  if (!model.joins_first_layer()) room.sums = rows * layout.samples * (model.in_base256 ? 3 : 1);
  for (std::size_t l = 1; l <= model.hidden(); ++l) room.hidden += lanes * model.widths[l];
  room.logits = lanes * model.outputs();
  for (std::size_t l = 2; l <= model.hidden() + (gradients ? 1 : 0); ++l) {
    const std::size_t rows_of_w = model.widths[l], inner = model.widths[l - 1];
    if (l <= model.hidden())
      room.fragments = std::max(room.fragments, layout.slots * fragments_of(rows_of_w, inner));
    if (gradients)
      room.fragments = std::max(room.fragments, layout.slots * fragments_of(inner, rows_of_w));
  }
  if (!gradients) return room;
  room.deltas = lanes * model.outputs();
  room.losses = layout.slots * ((layout.samples + loss_block - 1) / loss_block);
  room.sums = std::max(
      room.sums, rows * layout.features * (model.in_base256 ? 4 * layout.pieces : layout.chunks));
  if (model.in_base256) {
    room.delta_digits = rows * layout.samples * 4;
    room.delta_sums = rows * layout.pieces;
  }
  for (std::size_t l = 2; l <= model.hidden() + 1; ++l)
    room.partial =
        std::max(room.partial, layout.slots *
                                   parts_of_samples(layout, model.widths[l], model.widths[l - 1]) *
                                   model.widths[l] * (model.widths[l - 1] + 1));
  return room;
}

}  // namespace ticopd::cuda::general
