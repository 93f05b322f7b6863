#pragma once

#include <cstddef>
#include <cstdint>

#include "ticopd/data/reading.hpp"

namespace ticopd {

// Data made in code, a pure function of the arguments. Every number is rounded to float, so that
// float and double runs see the same samples; sample s does not depend on how many there are, nor
// on which others are made.

// Unit Gaussians around one mean per class, the nearest two means 6 apart: a linear model separates
// almost all samples. Classes alternate. samples / 5 more for testing.
template <class T>
SampleSource<T> synthetic_classes_source(std::size_t samples, std::size_t features, int classes,
                                         std::uint64_t seed);
template <class T>
TrainTest<T> synthetic_classes(std::size_t samples, std::size_t features, int classes,
                               std::uint64_t seed);

// y = w.x + 0.1 noise with Gaussian x, ||w|| about 1. samples / 5 more for testing.
template <class T>
SampleSource<T> synthetic_regression_source(std::size_t samples, std::size_t features,
                                            std::uint64_t seed);
template <class T>
TrainTest<T> synthetic_regression(std::size_t samples, std::size_t features, std::uint64_t seed);

// Digits 0 ... 9 as strokes on 28 x 28 pixels, each shifted, scaled, slanted and wobbled, with its
// own pen and brightness and some noise. samples / 6 more for testing. For demonstrations without
// MNIST.
template <class T>
SampleSource<T> digits_source(std::size_t samples, std::uint64_t seed);
template <class T>
TrainTest<T> digits(std::size_t samples, std::uint64_t seed);

}  // namespace ticopd
