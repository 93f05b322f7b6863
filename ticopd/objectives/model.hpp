#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ticopd/kernels/lanes.hpp"
#include "ticopd/objectives/objective.hpp"

namespace ticopd {

// A part of the parameters: its size, and how it is initialised.
struct Part {
  Segment segment;
  std::size_t fan_in;  // inputs of one output: sets the width of the first draw

  std::size_t size() const {
    std::size_t size = 1;
    for (const std::size_t extent : segment.shape) size *= extent;
    return size;
  }
};

// The loss of an objective over samples. SampleObjective does everything else: shards, blocks,
// batches, weights, l2, and the products with the features. Every model begins with one such
// product: its first part is a matrix W, outputs x features, and it sees a sample a only as z = W
// a. A new model is one header with a class derived from this, and one line in registry.cpp.
template <class T>
class Model {
 public:
  virtual ~Model() = default;

  // The first part is W.
  virtual std::vector<Part> parts() const = 0;
  virtual std::size_t outputs() const = 0;

  // z(j, i) is output j of sample i, `rest` the parameters after W. Returns scale * sum of the
  // losses. Unless g is null, ADDS scale * sum of the gradients by `rest` to it and leaves the
  // derivatives by z in z.
  virtual double losses(Lanes<T> z, std::span<const T> labels, std::span<const T> rest, T* g,
                        T scale) const = 0;

  // The number of samples that are classified correctly. NaN never counts as correct.
  virtual bool classifies() const { return true; }
  virtual std::size_t correct(Lanes<T> z, std::span<const T> labels,
                              std::span<const T> rest) const = 0;

  // A term of every f_i that does not depend on samples; adds its gradient to g unless null.
  virtual double penalty(std::span<const T> x, T* g) const {
    (void)x, (void)g;
    return 0.0;
  }

  std::size_t dimension() const;
  std::vector<Segment> segments() const;

  // uniform(+-1/sqrt(fan_in)) for every part, weights and biases alike, as PyTorch's Linear draws
  // them.
  void start(std::uint64_t seed, std::span<T> x) const;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace ticopd
