#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "ticopd/data/dataset.hpp"

namespace ticopd {

// A data set may be larger than the memory of a process that needs a few of its samples. So a
// reader holds none: it goes through its file (or makes its numbers) from the first sample to the
// last and passes on the wanted ones. It checks the others too, so every process of a run refuses a
// bad file with the same message.

// Which samples to pass on.
class Wanted {
 public:
  static Wanted first(std::size_t count) { return Wanted(count, {}); }
  static Wanted all() { return first(std::numeric_limits<std::size_t>::max()); }
  static Wanted none() { return first(0); }  // the labels alone: large files may stay closed
  static Wanted only(std::vector<std::uint32_t> ascending) {
    return Wanted(0, std::move(ascending));
  }

  bool nothing() const { return first_ == 0 && list_.empty(); }
  bool operator()(std::size_t sample) const;

 private:
  Wanted(std::size_t first, std::vector<std::uint32_t> list)
      : first_(first), list_(std::move(list)) {}

  std::size_t first_;
  std::vector<std::uint32_t> list_;
};

// What a reader learned about all samples, wanted or not.
struct Contents {
  std::vector<double> labels;  // of all samples
  std::size_t features = 0;
};

// Receives the wanted samples in ascending order; each is valid only during the call.
template <class T>
using Take = std::function<void(const Sample<T>&)>;

// Reads a set, anew at each call.
template <class T>
using Reading = std::function<Contents(const Wanted&, const Take<T>&)>;

// The readers behind problem.data.
template <class T>
struct SampleSource {
  Reading<T> train;
  Reading<T> test = {};  // empty: there are no test samples
  // Makes the two sets consistent (number of features, labels as class numbers), or throws
  // FormatError. Returns the number of classes, 0 for targets.
  std::function<int(Contents& train, Contents& test)> reconcile;
};

// Chooses samples from the labels of all training samples and the number of classes: returns their
// indices, in the wanted order. A sample may be chosen more than once.
using Choose = std::function<std::vector<std::uint32_t>(std::span<const double>, int)>;

struct GatherOptions {
  std::size_t max_samples = 0;  // the first so many training samples are all there are; 0: no limit
  bool normalize = false;
  Choose choose = {};  // empty: all
};

// Reads the whole test set and the chosen training samples, as if all had been read and then
// selected. It never holds the features of the others. The price: it reads the training set again
// for each thing that must be known first: the labels, and with `normalize` mean and deviation.
template <class T>
TrainTest<T> gather(const SampleSource<T>& source, const GatherOptions& options = {});

// All samples of one set.
template <class T>
Dataset<T> whole(const Reading<T>& reading);

}  // namespace ticopd
