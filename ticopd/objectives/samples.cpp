#include "ticopd/objectives/samples.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/network/sum.hpp"
#include "ticopd/objectives/blas.hpp"

namespace ticopd {
namespace {

constexpr std::size_t block_samples = 2048;  // enough work for a task of its own
constexpr std::size_t most_tile_samples = 512;

// A tile of dense features should stay in a core's cache between the two products that read it, and
// must stay small where there are very many features.
std::size_t tile_for(std::size_t features) {
  constexpr std::size_t entries = std::size_t{1} << 22;
  return std::clamp<std::size_t>(entries / std::max<std::size_t>(features, 1), 8,
                                 most_tile_samples);
}

template <class T>
T* tile_buffer(std::size_t count) {
  struct Features;
  return scratch<T, Features>(count);
}

}  // namespace

template <class T>
SampleObjective<T>::SampleObjective(std::unique_ptr<Model<T>> model, std::vector<Dataset<T>> shards,
                                    Dataset<T> test, SampleOptions options)
    : model_(std::move(model)),
      parts_(model_->parts()),
      test_(std::move(test)),
      options_(options),
      dimension_(model_->dimension()),
      tile_(tile_for(shards.empty() ? 0 : shards.front().features())) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].samples() == 0)
      throw ConfigError("problem.partition leaves agent " + std::to_string(i) +
                        " without samples: take fewer agents or another partition");
    all_samples_ += shards[i].samples();
    shards_.push_back(make_shard(std::exchange(shards[i], {})));
  }
  kernel_name();  // choose it here, where a wrong TICOPD_KERNEL is an error before any thread
                  // starts
}

template <class T>
auto SampleObjective<T>::make_shard(Dataset<T> data) const -> Shard {
  Columns columns = used_columns(data);
  // Where nearly all features are used, the copies of x and g cost more than the rest saves.
  if (columns.count == 0 || 8 * columns.count > 7 * data.features())
    return {std::move(data), {}, {}};
  auto model = model_->with_features(columns.count);
  if (model == nullptr) return {std::move(data), {}, {}};
  const std::size_t dimension = model->dimension();
  return {keep_columns(data, columns), std::move(columns), std::move(model), dimension};
}

template <class T>
void SampleObjective<T>::start(std::uint64_t seed, std::span<T> x) const {
  if (options_.start_at_zero)
    std::fill(x.begin(), x.end(), T(0));
  else
    model_->start(seed, x);
}

template <class T>
std::size_t SampleObjective<T>::blocks(int agent, const Batch& batch) const {
  return batch.full ? (samples(agent) + block_samples - 1) / block_samples : 1;
}

template <class T>
double SampleObjective<T>::evaluate(int agent, std::size_t block, const Batch& batch,
                                    std::span<const T> x, std::span<T> g) const {
  const Shard& mine = shard(agent);
  const std::size_t summed = batch.full ? samples(agent) : batch.samples.size();
  if (summed == 0) throw std::invalid_argument("a mini-batch without samples");
  double weight = 1.0;
  if (options_.weight_by_sample)
    weight = static_cast<double>(shards_.size()) * static_cast<double>(samples(agent)) /
             static_cast<double>(all_samples_);
  const T scale = static_cast<T>(weight / static_cast<double>(summed));
  T* gradient = g.empty() ? nullptr : g.data();

  double value = 0.0;
  if (mine.model == nullptr) {
    std::fill(g.begin(), g.end(), T(0));
    value = sum_tiles(*model_, mine.data, chosen(agent, block, batch), x, gradient, scale);
  } else {
    struct Point;
    struct Gradient;
    T* point = scratch<T, Point>(mine.dimension);
    narrow(parts_, mine.columns, x.data(), point);
    T* sum = g.empty() ? nullptr : scratch<T, Gradient>(mine.dimension);
    if (sum != nullptr) std::fill_n(sum, mine.dimension, T(0));
    value = sum_tiles(*mine.model, mine.data, chosen(agent, block, batch), {point, mine.dimension},
                      sum, scale);
    if (sum != nullptr) widen(parts_, mine.columns, sum, gradient);
  }
  return block == 0 ? value + sampleless_terms(x, gradient) : value;
}

template <class T>
auto SampleObjective<T>::chosen(int agent, std::size_t block, const Batch& batch) const -> Chosen {
  if (!batch.full) return {0, batch.samples.size(), batch.samples};
  const std::size_t m = samples(agent);
  const std::size_t count = blocks(agent, batch);  // of nearly equal size
  return {m * block / count, m * (block + 1) / count, {}};
}

template <class T>
double SampleObjective<T>::sum_tiles(const Model<T>& model, const Dataset<T>& data, Chosen samples,
                                     std::span<const T> x, T* g, T scale) const {
  auto [first, last, list] = samples;
  T* features = tile_buffer<T>(std::min(tile_, last - first) * data.features());
  std::vector<double> listed;
  double sum = 0.0;
  for (std::size_t count = 0; first < last; first += count) {
    count = std::min(tile_, last - first);
    if (list.empty()) {
      data.read(first, count, features);
      sum += model.tile(features, std::span(data.labels()).subspan(first, count), x, g, scale);
    } else {
      const auto part = list.subspan(first, count);
      listed.clear();
      for (const std::uint32_t sample : part) listed.push_back(data.labels().at(sample));
      data.read(part, features);
      sum += model.tile(features, listed, x, g, scale);
    }
  }
  return sum;
}

template <class T>
double SampleObjective<T>::sampleless_terms(std::span<const T> x, T* g) const {
  const double penalty = model_->penalty(x, g);
  if (options_.l2 == 0.0) return penalty;
  const T l2 = static_cast<T>(options_.l2);
  if (g != nullptr)
    for (std::size_t k = 0; k < x.size(); ++k) g[k] += l2 * x[k];
  return penalty + 0.5 * options_.l2 * sum_of_squares(x);
}

template <class T>
double SampleObjective<T>::value(int agent, std::span<const T> x) const {
  const Batch all;
  double value = 0.0;
  for (std::size_t b = 0; b < blocks(agent, all); ++b) value += evaluate(agent, b, all, x, {});
  return value;
}

template <class T>
void SampleObjective<T>::gradient(int agent, std::span<const T> x, std::span<T> g) const {
  const Batch all;
  evaluate(agent, 0, all, x, g);
  std::vector<T> part(blocks(agent, all) > 1 ? g.size() : 0);
  for (std::size_t b = 1; b < blocks(agent, all); ++b) {
    evaluate(agent, b, all, x, part);
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += part[k];
  }
}

template <class T>
std::size_t SampleObjective<T>::test_samples() const {
  return model_->classifies() ? test_.samples() : 0;
}

template <class T>
std::size_t SampleObjective<T>::correct(std::size_t first, std::size_t last,
                                        std::span<const T> x) const {
  std::size_t right = 0;
  T* features = tile_buffer<T>(std::min(tile_, last - first) * test_.features());
  for (std::size_t count = 0; first < last; first += count) {
    count = std::min(tile_, last - first);
    test_.read(first, count, features);
    right += model_->correct(features, std::span(test_.labels()).subspan(first, count), x);
  }
  return right;
}

template class SampleObjective<float>;
template class SampleObjective<double>;

}  // namespace ticopd
