#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ticopd/data/dataset.hpp"

namespace ticopd {

// The mean and deviation of each feature over the training samples. The deviation of a constant
// feature is 1.
struct Moments {
  std::vector<double> mean;
  std::vector<double> deviation;
};

// Every feature shifted and scaled to mean 0 and standard deviation 1 over the training samples,
// the test samples by the same numbers. A constant feature is only shifted. The result is dense.
template <class T>
void normalize(TrainTest<T>& data);

// Passes every training sample on as a dense row, in order; called twice.
template <class T>
using EachSample = std::function<void(const std::function<void(std::span<const T>)>&)>;

// The same over `samples` training samples of which data.train holds only some.
template <class T>
void normalize(TrainTest<T>& data, std::size_t samples, const EachSample<T>& each);

// The moments of training samples that lie in several sets, one after the other.
template <class T>
Moments moments_of(const std::vector<Dataset<T>>& train);

// The same by given moments, which need not be those of these samples.
template <class T>
void normalize(std::vector<Dataset<T>>& train, Dataset<T>& test, const Moments& by);

}  // namespace ticopd
