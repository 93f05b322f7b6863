#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/data/layout_bytes.hpp"
#include "ticopd/kernels/lanes.hpp"

namespace ticopd {

// The features X of some samples, laid out once for one kernel. A gradient spends its time in two
// products with X, and a kernel is a way to compute them: z = X w^T forward, g = delta^T X
// backward. The model passes in what happens between the two, tile by tile.
template <class T>
class Features {
 public:
  // Gets z for the samples first, first + 1, ... and replaces it by the deltas dLoss/dz.
  using Middle = std::function<void(std::size_t first, Lanes<T> z)>;

  virtual ~Features() = default;

  std::size_t samples() const { return samples_; }
  std::size_t features() const { return features_; }

  // A kernel may reorder the samples: returns the sample at each position. Empty: the given order.
  std::span<const std::uint32_t> order() const { return order_; }

  // Over the positions [first, last); `first` is a multiple of `cut`. w is outputs x features.
  // Writes, not adds, delta^T X to g (outputs x features) unless it is null. Tiles and their order
  // depend on first and last alone, so the bits do not depend on the calling thread.
  virtual void sweep(std::size_t first, std::size_t last, const T* w, const Middle& middle,
                     T* g) const = 0;
  static constexpr std::size_t cut = 64;

  // The same over a list of positions, for mini-batches: `first` is then an index into the list.
  void sweep_list(std::span<const std::uint32_t> positions, const T* w, const Middle& middle,
                  T* g) const;

  // The features at these positions, of the kind that these were made of: for a layout of their
  // own. Here for pixels, which `read` gives divided by 255.
  virtual typename Dataset<T>::Features select(std::span<const std::uint32_t> positions) const;

  using LayoutBytes = ticopd::LayoutBytes;
  virtual std::vector<LayoutBytes> layouts() const = 0;

 protected:
  Features(std::size_t samples, std::size_t features, std::size_t outputs)
      : samples_(samples), features_(features), outputs_(outputs) {}

  // Dense rows, all features in the order they were given.
  virtual void read(std::span<const std::uint32_t> positions, T* rows) const = 0;

  std::size_t samples_, features_, outputs_;
  std::vector<std::uint32_t> order_;
};

// The use of the features: a test set needs no gradients, which saves one layout.
enum class Sweeps { values, gradients };

// For the kernel of this process (kernel.hpp), by the kind of the features:
//   u8, float run:   amx, avx512, blas or plain (few outputs do not fill vectors: blas)
//   u8, double run:  blas or plain
//   sparse:          sparse rows;  dense:  blas or plain
template <class T>
std::unique_ptr<Features<T>> make_features(Dataset<T> data, std::size_t outputs, Sweeps sweeps);

// Each layout by name, for that table and for tests.
template <class T>
std::unique_ptr<Features<T>> dense_rows(Dataset<T> data, std::size_t outputs);
template <class T>
std::unique_ptr<Features<T>> sparse_rows(Dataset<T> data, std::size_t outputs);
template <class T>
std::unique_ptr<Features<T>> staircase_pixels(Dataset<T> data, std::size_t outputs);
std::unique_ptr<Features<float>> sparse_pixels(Dataset<float> data, std::size_t outputs,
                                               Sweeps sweeps);
std::unique_ptr<Features<float>> int8_pixels(Dataset<float> data, std::size_t outputs,
                                             Sweeps sweeps);

}  // namespace ticopd
