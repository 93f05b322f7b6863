#include "ticopd/cuda/general/pass.hpp"

namespace ticopd::cuda::general {

Workspace::Workspace(const Room& room)
    : weights(room.weights),
      weight_steps(room.unit_scales),
      weight_sums(room.unit_scales),
      sums(room.sums),
      hidden(room.hidden),
      logits(room.logits),
      deltas(room.deltas),
      delta_digits(room.delta_digits),
      delta_steps(room.unit_scales),
      delta_sums(room.delta_sums),
      fragments(room.fragments),
      partial(room.partial),
      losses(room.losses) {}

float* Pass::hidden(Workspace& space, std::size_t layer) const {
  std::size_t units = 0;
  for (std::size_t l = 1; l < layer; ++l) units += model.widths[l];
  return space.hidden.data() + units * layout.slots * layout.samples;
}

float* Pass::deltas(Workspace& space, std::size_t layer) const {
  return layer > model.hidden() ? space.deltas.data() : hidden(space, layer);
}

}  // namespace ticopd::cuda::general
