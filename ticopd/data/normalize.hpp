#pragma once

#include "ticopd/data/dataset.hpp"

namespace ticopd {

// Every feature shifted and scaled to mean 0 and standard deviation 1 over the training samples,
// the test samples by the same numbers. A constant feature is only shifted. The result is dense.
template <class T>
void normalize(TrainTest<T>& data);

}  // namespace ticopd
