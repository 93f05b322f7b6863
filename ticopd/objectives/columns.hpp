#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/objectives/model.hpp"

namespace ticopd {

// Features that are zero in every sample of a shard add nothing to its products, and an agent that
// holds one digit of MNIST has a fifth of them: dropping them saves that share of the work. The
// kept ones are listed as runs, since pixels come in rows and runs are copied faster than single
// numbers.
struct Columns {
  struct Run {
    std::size_t first, count;
  };
  std::vector<Run> runs;
  std::size_t count = 0;
};

template <class T>
Columns used_columns(const Dataset<T>& data);

// The samples with these features only.
template <class T>
Dataset<T> keep_columns(const Dataset<T>& data, const Columns& columns);

// The parameters that meet these features only: x cut down, and g written back (zero elsewhere). A
// part without features is copied.
template <class T>
void narrow(const std::vector<Part>& parts, const Columns& columns, const T* x, T* narrow_x);
template <class T>
void widen(const std::vector<Part>& parts, const Columns& columns, const T* narrow_g, T* g);

}  // namespace ticopd
