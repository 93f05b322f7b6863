#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/cuda/general/sizes.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda::general {

// Samples on the device, in the form that products need: one row per sample. Digits also have a
// transposed copy, because int8 products read both operands along the dimension that they sum over.
// Pixels are stored as p - 128, since int8 is signed. The code after a product adds the missing 128
// times the sum of the digits, in integers. Padding is zero, for samples and for features.
struct DeviceSamples {
  DeviceSamples() = default;
  // Room for slots x samples of `layout`, all padding so far.
  DeviceSamples(const Model& model, const SampleLayout& layout, bool turned_too);
  // One data set per slot, and the features of it that are kept.
  DeviceSamples(const Model& model, const SampleLayout& layout,
                const std::vector<const Dataset<float>*>& sets,
                const std::vector<std::vector<std::uint32_t>>& used, bool turned_too);

  static std::size_t bytes(const Model& model, const SampleLayout& layout, bool turned_too);

  const void* rows() const {
    return pixels.size() > 0 ? static_cast<const void*>(pixels.data()) : values.data();
  }

  SampleLayout layout;
  Buffer<std::int8_t> pixels;     // slots x samples x features
  Buffer<std::int8_t> turned;     // slots x features x samples
  Buffer<float> values;           // slots x samples x features
  Buffer<double> labels;          // slots x samples
  Buffer<std::uint32_t> counts;   // by slot: samples that are not padding
  Buffer<std::uint32_t> columns;  // slots x features: index in the model; no_feature: padding
  Buffer<std::int32_t> places;    // slots x the model's features: index among ours, or -1
};

inline constexpr std::uint32_t no_feature = 0xffffffffu;

// turned = pixels, transposed.
void record_turn(Queue& queue, DeviceSamples& samples);

// Draws the round's mini-batches. Sample b of a slot is the b-th that the CPU network would draw
// for (seed, round, agent), or sample b itself if the agent has no more than `batch` samples.
void record_draw(Queue& queue, const DeviceSamples& from, DeviceSamples& to,
                 const std::uint32_t* agents, std::uint64_t seed, std::size_t batch);

}  // namespace ticopd::cuda::general
