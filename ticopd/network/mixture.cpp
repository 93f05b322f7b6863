#include <algorithm>
#include <cstddef>

#include "ticopd/network/operand.hpp"
#include "ticopd/system/widest_vectors.hpp"

namespace ticopd {
namespace {

// Terms are added one by one in their order, however many there are in a pass.
template <std::size_t N, bool start, class T>
void add(const Field<T>& rows, const typename LocalMixing<T>::Term* terms, std::size_t first,
         std::size_t count, T* sum) {
  const T* h[N];
  T weight[N];
  for (std::size_t i = 0; i < N; ++i) {
    h[i] = rows.row(terms[i].slot).data() + first;
    weight[i] = terms[i].weight;
  }
#if !defined(__clang__)
#pragma GCC ivdep
#endif
  for (std::size_t k = 0; k < count; ++k) {
    const T one = weight[0] * h[0][k];
    T total = start ? one : sum[k] + one;
    for (std::size_t i = 1; i < N; ++i) total += weight[i] * h[i][k];
    sum[k] = total;
  }
}

}  // namespace

template <class T>
void mix(const Mixture<T>& mixture, std::size_t row, std::size_t first, std::size_t count, T* sum) {
  const auto& terms = mixture.m->rows[row];
  if (terms.empty()) std::fill_n(sum, count, T(0));  // nobody is listened to
  with_widest_vectors([&] {
    std::size_t at = 0;
    const auto pass = [&]<std::size_t N>() {
      if (at == 0)
        add<N, true>(*mixture.h, terms.data(), first, count, sum);
      else
        add<N, false>(*mixture.h, terms.data() + at, first, count, sum);
      at += N;
    };
    // Several neighbours per pass, so that their sum stays in a register.
    while (at + 4 <= terms.size()) pass.template operator()<4>();
    if (at + 2 < terms.size()) pass.template operator()<3>();
    if (at + 1 < terms.size()) pass.template operator()<2>();
    if (at < terms.size()) pass.template operator()<1>();
  });
}

template void mix(const Mixture<float>&, std::size_t, std::size_t, std::size_t, float*);
template void mix(const Mixture<double>&, std::size_t, std::size_t, std::size_t, double*);

}  // namespace ticopd
