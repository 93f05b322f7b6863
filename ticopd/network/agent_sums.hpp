#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ticopd/network/field.hpp"
#include "ticopd/numeric/sum.hpp"
#include "ticopd/system/widest_vectors.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {

// One row per agent; `rows` holds this rank's.

// sum_i rows_i over all agents of all ranks, in agent order. The partial sum goes from rank to
// rank, in pieces, so that a rank adds to one piece while the next rank adds to the piece before.
// The last rank gets the sum; the others get an empty vector.
template <class T>
std::vector<double> sum_to_last(Transport& t, const Field<T>& rows) {
  constexpr std::size_t piece = 8192;
  const bool last = t.rank() == t.size() - 1;
  std::vector<double> total(last ? rows.cols() : 0);
  for (std::size_t first = 0; first < rows.cols(); first += piece) {
    std::vector<double> sum(std::min(piece, rows.cols() - first), 0.0);
    if (t.rank() > 0)
      sum = from_bytes<double>(
          t.receive(t.rank() - 1, channel_metrics, sum.size() * sizeof(double)), sum.size());
    with_widest_vectors([&rows, first, to = sum.data(), count = sum.size()] {
      for (std::size_t i = 0; i < rows.rows(); ++i) {
        const T* row = rows.row(i).data() + first;
        for (std::size_t k = 0; k < count; ++k) to[k] += static_cast<double>(row[k]);
      }
    });
    if (last)
      std::copy(sum.begin(), sum.end(), total.begin() + static_cast<std::ptrdiff_t>(first));
    else
      t.send(t.rank() + 1, channel_metrics, to_bytes<double>(sum));
  }
  return total;
}

// The same sum, returned on every rank.
template <class T>
std::vector<double> sum_over_agents(Transport& t, const Field<T>& rows) {
  std::vector<double> total = sum_to_last(t, rows);
  if (t.size() == 1) return total;
  return from_bytes<double>(broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(total)),
                            rows.cols());
}

// The squared norm of the sum divided by n, which is all that metrics need of a gradient.
template <class T>
double squared_norm_of_mean(Transport& t, const Field<T>& rows, double n) {
  std::vector<double> mean = sum_to_last(t, rows);
  for (double& v : mean) v /= n;
  const double mine = sum_of_squares<double>(mean);
  if (t.size() == 1) return mine;
  const Bytes told =
      broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(std::span(&mine, 1)));
  return from_bytes<double>(told, 1)[0];
}

}  // namespace ticopd
