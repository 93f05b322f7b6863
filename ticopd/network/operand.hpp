#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "ticopd/network/field.hpp"

namespace ticopd {

// Arguments of net.map besides fields. A map walks each row in short chunks, and an operand
// computes its chunk when it is read. This fuses M h into the map: it never exists as a whole.
inline constexpr std::size_t map_chunk = 1024;

// The hosted rows of a mixing matrix, over slots of a block of rows, in the run's scalar type.
template <class T>
struct LocalMixing {
  struct Term {
    std::size_t slot;
    T weight;
  };
  std::vector<std::vector<Term>> rows;  // ascending agent
};

// M h, recomputed wherever it is read. Never accumulated: a running sum drifts
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

template <class T>
class MixtureChunk {
 public:
  MixtureChunk(const Mixture<T>& mixture, std::size_t row, std::size_t first, std::size_t count) {
    const auto& terms = mixture.m->rows[row];
    if (terms.empty()) std::fill_n(sum_, count, T(0));  // no neighbours
    std::size_t at = 0;
    const auto pass = [&]<std::size_t N>() {
      if (at == 0)
        add<N, true>(mixture, terms.data(), first, count);
      else
        add<N, false>(mixture, terms.data() + at, first, count);
      at += N;
    };
    // Several neighbours in one pass: their sum then stays in a register.
    while (at + 4 <= terms.size()) pass.template operator()<4>();
    if (at + 2 < terms.size()) pass.template operator()<3>();
    if (at + 1 < terms.size()) pass.template operator()<2>();
    if (at < terms.size()) pass.template operator()<1>();
  }
  T operator[](std::size_t k) const { return sum_[k]; }

 private:
  // Terms are added one by one in their order, however many a pass takes.
  template <std::size_t N, bool start>
  void add(const Mixture<T>& mixture, const typename LocalMixing<T>::Term* terms, std::size_t first,
           std::size_t count) {
    const T* h[N];
    T weight[N];
    for (std::size_t i = 0; i < N; ++i) {
      h[i] = mixture.h->row(terms[i].slot).data() + first;
      weight[i] = terms[i].weight;
    }
#if !defined(__clang__)
#pragma GCC ivdep
#endif
    for (std::size_t k = 0; k < count; ++k) {
      const T one = weight[0] * h[0][k];
      T sum = start ? one : sum_[k] + one;
      for (std::size_t i = 1; i < N; ++i) sum += weight[i] * h[i][k];
      sum_[k] = sum;
    }
  }

  alignas(64) T sum_[map_chunk];
};

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
