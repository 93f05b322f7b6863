#include <algorithm>
#include <variant>

#include "ticopd/cuda/general/data.hpp"

namespace ticopd::cuda::general {
namespace {

template <class T>
void upload_at(Buffer<T>& to, std::size_t at, const std::vector<T>& from) {
  copy(to.data() + at, from.data(), from.size() * sizeof(T));
}

void upload_pixels(DeviceSamples& to, std::size_t slot, const Dataset<float>& set,
                   const std::vector<std::uint32_t>& used) {
  const auto& from = std::get<std::vector<std::uint8_t>>(set.raw());
  std::vector<std::int8_t> rows(set.samples() * to.layout.features);
  for (std::size_t i = 0; i < set.samples(); ++i)
    for (std::size_t j = 0; j < used.size(); ++j)
      rows[i * to.layout.features + j] =
          static_cast<std::int8_t>(static_cast<int>(from[i * set.features() + used[j]]) - 128);
  upload_at(to.pixels, slot * to.layout.samples * to.layout.features, rows);
}

// In parts, because the floats of a whole set would take four times the host's memory for it.
void upload_values(DeviceSamples& to, std::size_t slot, const Dataset<float>& set) {
  constexpr std::size_t stretch = 4096;
  const std::size_t width = to.layout.features;
  std::vector<float> rows, dense;
  for (std::size_t first = 0; first < set.samples(); first += stretch) {
    const std::size_t count = std::min(stretch, set.samples() - first);
    dense.resize(count * set.features());
    set.read(first, count, dense.data());
    rows.assign(count * width, 0.0f);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(dense.begin() + static_cast<std::ptrdiff_t>(i * set.features()), set.features(),
                  rows.begin() + static_cast<std::ptrdiff_t>(i * width));
    upload_at(to.values, (slot * to.layout.samples + first) * width, rows);
  }
}

}  // namespace

DeviceSamples::DeviceSamples(const Model& model, const SampleLayout& of, bool turned_too)
    : layout(of) {
  const std::size_t entries = of.slots * of.samples * of.features;
  if (model.in_base256) {
    pixels = Buffer<std::int8_t>(entries);
    if (turned_too) turned = Buffer<std::int8_t>(entries);
  } else {
    values = Buffer<float>(entries);
  }
  labels = Buffer<double>(of.slots * of.samples);
}

DeviceSamples::DeviceSamples(const Model& model, const SampleLayout& of,
                             const std::vector<const Dataset<float>*>& sets,
                             const std::vector<std::vector<std::uint32_t>>& used, bool turned_too) {
  *this = DeviceSamples(model, of, turned_too);
  std::vector<std::uint32_t> count, column(of.slots * of.features, no_feature);
  std::vector<std::int32_t> place(of.slots * model.features(), -1);
  for (std::size_t slot = 0; slot < sets.size(); ++slot) {
    const Dataset<float>& set = *sets[slot];
    count.push_back(static_cast<std::uint32_t>(set.samples()));
    upload_at(labels, slot * of.samples, set.labels());
    for (std::size_t j = 0; j < used[slot].size(); ++j) {
      column[slot * of.features + j] = used[slot][j];
      place[slot * model.features() + used[slot][j]] = static_cast<std::int32_t>(j);
    }
    if (model.in_base256)
      upload_pixels(*this, slot, set, used[slot]);
    else
      upload_values(*this, slot, set);
  }
  counts = Buffer<std::uint32_t>(count);
  columns = Buffer<std::uint32_t>(column);
  places = Buffer<std::int32_t>(place);
  if (turned.size() > 0) {
    Queue queue;
    record_turn(queue, *this);
    queue.finish();
  }
}

std::size_t DeviceSamples::bytes(const Model& model, const SampleLayout& of, bool turned_too) {
  const std::size_t of_entry = model.in_base256 ? (turned_too ? 2 : 1) : sizeof(float);
  return of.slots * (of.samples * (of.features * of_entry + sizeof(double)) +
                     of.features * sizeof(std::uint32_t) + model.features() * sizeof(std::int32_t) +
                     sizeof(std::uint32_t));
}

}  // namespace ticopd::cuda::general
