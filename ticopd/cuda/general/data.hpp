#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ticopd/cuda/general/sizes.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"

namespace ticopd::cuda::general {

// Samples on the device, as their products want them: a row for each sample, and for digits the
// turned copy too, since int8 products read both operands along what they sum over. Pixels are
// p - 128, the other operand being signed already; whoever multiplies adds the missing 128 times
// the digits' sum, in integers. Padding is zero, both samples and features.
struct DeviceSamples {
  DeviceSamples() = default;
  // Room for slots x samples of `layout`, all padding so far.
  DeviceSamples(const Model& model, const SampleLayout& layout, bool turned_too);
  // One data set for each slot, and the features that are kept of it.
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
  Buffer<std::uint32_t> columns;  // slots x features: which of the model's; no_feature: padding
  Buffer<std::int32_t> places;    // slots x the model's features: where among ours, or -1
};

inline constexpr std::uint32_t no_feature = 0xffffffffu;

// turned = pixels the other way round.
void record_turn(Queue& queue, DeviceSamples& samples);

// The round's mini-batches: sample b of every slot is the b-th that the CPU network would draw for
// (seed, round, agent), or sample b itself where an agent has no more than `batch`.
void record_draw(Queue& queue, const DeviceSamples& from, DeviceSamples& to,
                 const std::uint32_t* agents, std::uint64_t seed, std::size_t batch);

}  // namespace ticopd::cuda::general
