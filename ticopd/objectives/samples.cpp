#include "ticopd/objectives/samples.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/numeric/fingerprint.hpp"
#include "ticopd/numeric/sum.hpp"

namespace ticopd {
namespace {

constexpr std::size_t block_samples = 2048;  // enough work for a task of its own

std::size_t blocks_of(std::size_t samples) {
  return (samples + block_samples - 1) / block_samples;
}

// Blocks have nearly equal sizes and begin where kernels may begin.
template <class T>
std::size_t block_begin(std::size_t samples, std::size_t block) {
  if (block == blocks_of(samples)) return samples;
  return samples / Features<T>::cut * block / blocks_of(samples) * Features<T>::cut;
}

template <class T>
SampleRecord record_of(const Dataset<T>& data) {
  Fingerprint all;
  all.add_size(data.samples()).add_size(data.features());
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&data.raw()))
    all.add(*bytes);
  else if (const auto* dense = std::get_if<std::vector<T>>(&data.raw()))
    all.add(*dense);
  else if (const auto* sparse = std::get_if<SparseRows<T>>(&data.raw()))
    all.add(sparse->begin).add(sparse->index).add(sparse->value);
  all.add(data.labels());
  SampleRecord record{all.hex(), {}};
  std::map<double, std::size_t> counts;
  constexpr std::size_t few = 100;  // more of them are targets, or nothing to read
  for (std::size_t i = 0; i < data.samples() && counts.size() <= few; ++i)
    ++counts[data.labels()[i]];
  if (counts.size() <= few) record.labels.assign(counts.begin(), counts.end());
  return record;
}

}  // namespace

template <class T>
SampleObjective<T>::SampleObjective(std::unique_ptr<Model<T>> model, Shards<T> shards,
                                    Dataset<T> test, SampleOptions options)
    : model_(std::move(model)),
      first_(shards.first),
      sizes_(std::move(shards.sizes)),
      options_(options),
      dimension_(model_->dimension()),
      weights_(model_->parts().front().size()) {
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (sizes_[i] == 0)
      throw ConfigError("problem.partition leaves agent " + std::to_string(i) +
                        " without samples: take fewer agents or another partition");
    all_samples_ += sizes_[i];
  }
  for (Dataset<T>& data : shards.hosted) {
    SampleRecord record = record_of(data);
    shards_.push_back(make_shard(std::exchange(data, {}), Sweeps::gradients));
    shards_.back().record = std::move(record);
  }
  if (model_->classifies() && test.samples() > 0) {
    SampleRecord record = record_of(test);
    test_ = make_shard(std::exchange(test, {}), Sweeps::values);
    test_.record = std::move(record);
  }
}

template <class T>
SampleObjective<T>::SampleObjective(const SampleObjective& whole, int first,
                                    std::span<const Batch> samples)
    : model_(whole.model_),
      first_(first),
      sizes_(whole.sizes_),
      options_(whole.options_),
      dimension_(whole.dimension_),
      weights_(whole.weights_),
      all_samples_(whole.all_samples_) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Shard& from = whole.shard(first + static_cast<int>(i));
    std::vector<std::uint32_t> positions = samples[i].samples;
    if (samples[i].full) {
      positions.resize(from.labels.size());
      std::iota(positions.begin(), positions.end(), 0u);
    } else if (!from.position.empty()) {
      for (std::uint32_t& p : positions) p = from.position.at(p);
    }
    shards_.push_back(make_shard(read_back(from, positions), Sweeps::gradients));
  }
}

template <class T>
Dataset<T> SampleObjective<T>::read_back(const Shard& from,
                                         std::span<const std::uint32_t> positions) const {
  std::vector<double> labels;
  for (const std::uint32_t p : positions) labels.push_back(static_cast<double>(from.labels[p]));
  return {positions.size(), from.features->features(), from.features->select(positions),
          std::move(labels)};
}

template <class T>
Dataset<T> SampleObjective<T>::read_back(const Shard& from) const {
  if (!from.position.empty()) return read_back(from, from.position);
  std::vector<std::uint32_t> positions(from.labels.size());
  std::iota(positions.begin(), positions.end(), 0u);
  return read_back(from, positions);
}

template <class T>
std::shared_ptr<const SampleProblem> SampleObjective<T>::sample_problem() const {
  if constexpr (sizeof(T) == sizeof(float))  // devices compute in float
    std::call_once(problem_made_, [&] {
      if (!outline_) return;
      auto problem = std::make_shared<SampleProblem>(*outline_);
      for (const Shard& mine : shards_) problem->shards.push_back(read_back(mine));
      if (test_samples() > 0) problem->test = read_back(test_);
      problem_ = std::move(problem);
    });
  return problem_;
}

template <class T>
std::unique_ptr<const Objective<T>> SampleObjective<T>::part(int first,
                                                             std::span<const Batch> samples) const {
  return std::unique_ptr<const Objective<T>>(new SampleObjective(*this, first, samples));
}

template <class T>
std::size_t SampleObjective<T>::summed(int agent) const {
  const auto place = static_cast<std::size_t>(agent - first_);  // huge where agent < first_
  return place < shards_.size() ? shards_[place].labels.size() : samples(agent);
}

template <class T>
auto SampleObjective<T>::shard(int agent) const -> const Shard& {
  const auto place = static_cast<std::size_t>(agent - first_);  // huge where agent < first_
  if (place >= shards_.size())
    throw std::logic_error("agent " + std::to_string(agent) + " is not hosted by this process");
  return shards_[place];
}

// The kernel may reorder samples. Labels follow its order, and `position` finds a sample in it.
template <class T>
auto SampleObjective<T>::make_shard(Dataset<T> data, Sweeps sweeps) const -> Shard {
  const std::vector<double> labels = data.labels();
  Shard made{make_features(std::move(data), model_->outputs(), sweeps), {}, {}};
  made.labels.resize(labels.size());
  const auto order = made.features->order();
  made.position.resize(order.size());
  for (std::size_t at = 0; at < labels.size(); ++at) {
    const std::size_t sample = order.empty() ? at : order[at];
    made.labels[at] = static_cast<T>(labels[sample]);
    if (!order.empty()) made.position[sample] = static_cast<std::uint32_t>(at);
  }
  return made;
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
  return batch.full ? blocks_of(summed(agent)) : 1;
}

template <class T>
double SampleObjective<T>::evaluate(int agent, std::size_t block, const Batch& batch,
                                    std::span<const T> x, std::span<T> g) const {
  const std::size_t count = batch.full ? summed(agent) : batch.samples.size();
  if (count == 0) throw std::invalid_argument("a mini-batch without samples");
  double weight = 1.0;
  if (options_.weight_by_sample)
    weight = static_cast<double>(sizes_.size()) * static_cast<double>(samples(agent)) /
             static_cast<double>(all_samples_);
  const T scale = static_cast<T>(weight / static_cast<double>(count));
  T* gradient = g.empty() ? nullptr : g.data();
  // A sweep overwrites the gradient of W. The model adds to the rest, which must start at zero.
  if (gradient != nullptr)
    std::fill(g.begin() + static_cast<std::ptrdiff_t>(weights_), g.end(), T(0));
  const double value = batch.full ? sum_block(shard(agent), block, x, gradient, scale)
                                  : sum_batch(shard(agent), batch, x, gradient, scale);
  // Terms without samples belong to f_i once, so only block 0 has them.
  return block == 0 ? value + sampleless_terms(x, gradient) : value;
}

template <class T>
double SampleObjective<T>::sum_block(const Shard& mine, std::size_t block, std::span<const T> x,
                                     T* g, T scale) const {
  const std::size_t first = block_begin<T>(mine.labels.size(), block);
  const std::size_t last = block_begin<T>(mine.labels.size(), block + 1);
  T* rest = g == nullptr ? nullptr : g + weights_;
  double sum = 0.0;
  mine.features->sweep(
      first, last, x.data(),
      [&](std::size_t at, Lanes<T> z) {
        const auto labels = std::span(mine.labels).subspan(at, z.count);
        sum += model_->losses(z, labels, x.subspan(weights_), rest, scale);
      },
      g);
  return sum;
}

template <class T>
double SampleObjective<T>::sum_batch(const Shard& mine, const Batch& batch, std::span<const T> x,
                                     T* g, T scale) const {
  std::vector<std::uint32_t> positions;
  std::vector<T> labels;
  for (const std::uint32_t sample : batch.samples) {
    positions.push_back(mine.position.empty() ? sample : mine.position.at(sample));
    labels.push_back(mine.labels.at(positions.back()));
  }
  T* rest = g == nullptr ? nullptr : g + weights_;
  double sum = 0.0;
  mine.features->sweep_list(
      positions, x.data(),
      [&](std::size_t at, Lanes<T> z) {
        sum += model_->losses(z, std::span(labels).subspan(at, z.count), x.subspan(weights_), rest,
                              scale);
      },
      g);
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
  return test_.labels.size();
}

template <class T>
std::size_t SampleObjective<T>::test_blocks() const {
  return blocks_of(test_.labels.size());
}

template <class T>
std::size_t SampleObjective<T>::correct(std::size_t block, std::span<const T> x) const {
  std::size_t right = 0;
  test_.features->sweep(
      block_begin<T>(test_.labels.size(), block), block_begin<T>(test_.labels.size(), block + 1),
      x.data(),
      [&](std::size_t at, Lanes<T> z) {
        right +=
            model_->correct(z, std::span(test_.labels).subspan(at, z.count), x.subspan(weights_));
      },
      nullptr);
  return right;
}

template <class T>
std::vector<LayoutBytes> SampleObjective<T>::layouts() const {
  std::vector<LayoutBytes> all{{"labels", 0}};
  const auto add = [&](const LayoutBytes& mine) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const LayoutBytes& h) { return h.layout == mine.layout; });
    if (same == all.end())
      all.push_back(mine);
    else
      same->bytes += mine.bytes;
  };
  const auto add_shard = [&](const Shard& part) {
    for (const LayoutBytes& mine : part.features->layouts()) add(mine);
    add({"labels", part.labels.size() * sizeof(T) + part.position.size() * sizeof(std::uint32_t)});
  };
  for (const Shard& s : shards_) add_shard(s);
  if (test_.features != nullptr) add_shard(test_);
  return all;
}

template class SampleObjective<float>;
template class SampleObjective<double>;

}  // namespace ticopd
