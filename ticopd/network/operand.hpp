#pragma once

#include <cstddef>
#include <vector>

#include "ticopd/network/field.hpp"

namespace ticopd {

// Arguments of net.map besides fields. A map walks each row in short chunks, and an operand
// computes its chunk when it is read. This fuses M h into the map: it never exists as a whole.
inline constexpr std::size_t map_chunk = 1024;

// The hosted rows of a mixing matrix, in the run's scalar type. Columns are slots of a block of
// rows.
template <class T>
struct LocalMixing {
  struct Term {
    std::size_t slot;
    T weight;
  };
  std::vector<std::vector<Term>> rows;  // ascending agent
};

// M h, recomputed every time it is read. It is never accumulated: a running sum drifts
// (docs/architecture.md).
template <class T>
struct Mixture {
  const Field<T>* h;
  const LocalMixing<T>* m;
};

// One number per hosted agent, such as w_ii.
template <class T>
struct PerAgent {
  const std::vector<T>* values;
};

// The chunk of a row of M h, written to sum. Compiled once, and not into every formula that reads a
// mixture: a call per chunk costs nothing.
template <class T>
void mix(const Mixture<T>& mixture, std::size_t row, std::size_t first, std::size_t count, T* sum);

extern template void mix(const Mixture<float>&, std::size_t, std::size_t, std::size_t, float*);
extern template void mix(const Mixture<double>&, std::size_t, std::size_t, std::size_t, double*);

// A chunk of M h, computed on construction.
template <class T>
class MixtureChunk {
 public:
  MixtureChunk(const Mixture<T>& mixture, std::size_t row, std::size_t first, std::size_t count) {
    mix(mixture, row, first, count, sum_);
  }
  T operator[](std::size_t k) const { return sum_[k]; }

 private:
  alignas(64) T sum_[map_chunk];
};

// A chunk with the same value at every coordinate.
template <class T>
struct Constant {
  T value;
  T operator[](std::size_t) const { return value; }
};

template <class T>
T* chunk_of(Field<T>& f, std::size_t row, std::size_t first, std::size_t) {
  return f.row(row).data() + first;
}
template <class T>
const T* chunk_of(const Field<T>& f, std::size_t row, std::size_t first, std::size_t) {
  return f.row(row).data() + first;
}
template <class T>
MixtureChunk<T> chunk_of(const Mixture<T>& m, std::size_t row, std::size_t first,
                         std::size_t count) {
  return {m, row, first, count};
}
template <class T>
Constant<T> chunk_of(const PerAgent<T>& p, std::size_t row, std::size_t, std::size_t) {
  return {(*p.values)[row]};
}

}  // namespace ticopd
