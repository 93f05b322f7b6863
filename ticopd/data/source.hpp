#pragma once

#include "ticopd/data/table.hpp"

namespace ticopd {

// ConfigError naming problem.data for an unknown form, FormatError naming the file for bad data,
// UnavailableError where MNIST cannot be had.
// Labels of libsvm, csv and npy files must be whole numbers unless `regression`; the values found
// in the training file become classes 0, 1, ... in ascending order.
// With `choose`, `train` holds the chosen samples in the order given and no others were ever held:
// it is load(options).train.select(choose(labels, classes)) bit for bit.
template <class T>
TrainTest<T> load(const DataOptions& options, const Choose& choose = {});

}  // namespace ticopd
