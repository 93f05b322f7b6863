#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ticopd/objectives/objective.hpp"

namespace ticopd {

// A stretch of the parameters, and what an objective over samples must know of it.
struct Part {
  Segment segment;
  std::size_t fan_in;       // inputs of one output: sets the width of the first draw
  bool by_feature = false;  // the last extent runs over the features

  std::size_t size() const {
    std::size_t size = 1;
    for (const std::size_t extent : segment.shape) size *= extent;
    return size;
  }
};

// What an objective over samples computes for a few of them: everything else (shards, blocks,
// batches, weights, l2) is SampleObjective's. A new one is one header with a class derived from
// this, and one line in registry.cpp.
template <class T>
class Model {
 public:
  virtual ~Model() = default;

  virtual std::vector<Part> parts() const = 0;

  // Returns scale * sum over the tile of the losses at x and, unless g is null, ADDS scale * sum of
  // their gradients to g. `features` holds `labels.size()` dense rows.
  virtual double tile(const T* features, std::span<const double> labels, std::span<const T> x, T* g,
                      T scale) const = 0;

  // How many of the tile's samples x puts into their class. NaN is never right.
  virtual bool classifies() const { return true; }
  virtual std::size_t correct(const T* features, std::span<const double> labels,
                              std::span<const T> x) const = 0;

  // A term of every f_i that no sample enters; adds its gradient to g unless null.
  virtual double penalty(std::span<const T> x, T* g) const {
    (void)x, (void)g;
    return 0.0;
  }

  // The same model over fewer features, for shards in which the others are all zero; null: it
  // cannot.
  virtual std::unique_ptr<Model<T>> with_features(std::size_t count) const {
    (void)count;
    return nullptr;
  }

  std::size_t dimension() const;
  std::vector<Segment> segments() const;

  // uniform(+-1/sqrt(fan_in)) for every part, weights and biases alike, as PyTorch's Linear draws
  // them.
  void start(std::uint64_t seed, std::span<T> x) const;
};

extern template class Model<float>;
extern template class Model<double>;

// A buffer of at least `count` entries that the calling thread keeps between calls, one for each
// Tag. Tiles need the same sizes over and over, and fresh pages would cost more than some of the
// arithmetic.
template <class T, class Tag>
T* scratch(std::size_t count) {
  thread_local std::vector<T> buffer;
  if (buffer.size() < count) buffer.resize(count);
  return buffer.data();
}

}  // namespace ticopd
