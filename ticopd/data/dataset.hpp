#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ticopd {

// Rows of a compressed sparse matrix, as LIBSVM files give them.
template <class T>
struct SparseRows {
  std::vector<std::size_t> begin;  // samples + 1
  std::vector<std::uint32_t> index;
  std::vector<T> value;

  bool operator==(const SparseRows&) const = default;
};

// A view of the features of one sample.
template <class T>
struct SparseSample {
  std::span<const std::uint32_t> index;
  std::span<const T> value;
};
template <class T>
using Sample = std::variant<std::span<const std::uint8_t>, std::span<const T>, SparseSample<T>>;

// As a dense row; u8 pixels come out divided by 255.
template <class T>
void read(const Sample<T>& sample, std::span<T> out);

// Samples by features, in the form of the file: images stay u8 (exact, and a quarter of the
// memory), sparse rows stay sparse. Objectives read them tile by tile through `read`.
template <class T>
class Dataset {
 public:
  using Features = std::variant<std::vector<std::uint8_t>, std::vector<T>, SparseRows<T>>;

  Dataset() = default;
  Dataset(std::size_t samples, std::size_t features, Features x, std::vector<double> labels)
      : samples_(samples), features_(features), x_(std::move(x)), labels_(std::move(labels)) {}

  std::size_t samples() const { return samples_; }
  std::size_t features() const { return features_; }
  const Features& raw() const { return x_; }
  // As in the file: a class number for classification, a target for regression.
  const std::vector<double>& labels() const { return labels_; }

  // The features of samples[0 ... count) as dense rows; u8 pixels come out divided by 255.
  void read(std::span<const std::uint32_t> samples, T* out) const;
  // The same for the contiguous samples [first, first + count).
  void read(std::size_t first, std::size_t count, T* out) const;

  Dataset select(std::span<const std::uint32_t> samples) const;  // in the given order
  // The same samples with other labels; sparse ones may get more features.
  Dataset relabelled(std::size_t features, std::vector<double> labels) && {
    return Dataset(samples_, features, std::move(x_), std::move(labels));
  }
  std::size_t bytes() const;  // memory held

 private:
  std::size_t samples_ = 0;
  std::size_t features_ = 0;
  Features x_;
  std::vector<double> labels_;
};

extern template void read(const Sample<float>&, std::span<float>);
extern template void read(const Sample<double>&, std::span<double>);
extern template class Dataset<float>;
extern template class Dataset<double>;

// Training samples, test samples (may be empty), and the number of classes (0: the labels are
// targets of a regression).
template <class T>
struct TrainTest {
  Dataset<T> train;
  Dataset<T> test;
  int classes = 0;
  std::string name;  // what was read, for messages and run.json
};

}  // namespace ticopd
