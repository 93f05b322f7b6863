#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "ticopd/network/field.hpp"
#include "ticopd/numeric/sum.hpp"
#include "ticopd/system/pool.hpp"
#include "ticopd/system/widest_vectors.hpp"
#include "ticopd/transport/collective.hpp"

namespace ticopd {

// One row per agent; `rows` holds this rank's.

// Adds the coordinates first ... first + count - 1 of all rows to `sum`, in the order of the rows.
template <class T>
void add_rows(const Field<T>& rows, std::size_t first, std::size_t count, double* sum) {
  with_widest_vectors([&rows, first, count, sum] {
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const T* row = rows.row(i).data() + first;
      for (std::size_t k = 0; k < count; ++k) sum[k] += static_cast<double>(row[k]);
    }
  });
}

// Writes the sums of term(k) over the blocks of [0, count) to `sums`.
template <class Term>
void block_sums(std::size_t count, const Term& term, double* sums) {
  with_widest_vectors([count, term, sums] {
    for (std::size_t first = 0; first < count; first += sum_block)
      sums[first / sum_block] = sum_of_block(first, std::min(count, first + sum_block), term);
  });
}

// sum_i rows_i over all agents of all ranks, in agent order. A single rank shares the pieces among
// its threads. Over several the partial sum goes from rank to rank, in pieces, so that a rank adds
// to one piece while the next rank adds to the piece before. The last rank gets the sum; the others
// get an empty vector.
template <class T>
std::vector<double> sum_to_last(Transport& t, Pool& pool, const Field<T>& rows) {
  constexpr std::size_t piece = 8192;
  const bool last = t.rank() == t.size() - 1;
  std::vector<double> total(last ? rows.cols() : 0);
  const auto length = [&](std::size_t first) { return std::min(piece, rows.cols() - first); };
  if (t.size() == 1) {
    pool.run((rows.cols() + piece - 1) / piece, [&](std::size_t p) {
      add_rows(rows, p * piece, length(p * piece), total.data() + p * piece);
    });
    return total;
  }
  for (std::size_t first = 0; first < rows.cols(); first += piece) {
    std::vector<double> sum(length(first), 0.0);
    if (t.rank() > 0)
      sum = from_bytes<double>(
          t.receive(t.rank() - 1, channel_metrics, sum.size() * sizeof(double)), sum.size());
    add_rows(rows, first, sum.size(), sum.data());
    if (last)
      std::copy(sum.begin(), sum.end(), total.begin() + static_cast<std::ptrdiff_t>(first));
    else
      t.send(t.rank() + 1, channel_metrics, to_bytes<double>(sum));
  }
  return total;
}

// The same sum, returned on every rank.
template <class T>
std::vector<double> sum_over_agents(Transport& t, Pool& pool, const Field<T>& rows) {
  std::vector<double> total = sum_to_last(t, pool, rows);
  if (t.size() == 1) return total;
  return from_bytes<double>(broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(total)),
                            rows.cols());
}

// On one rank: passes the coordinates of (sum_i rows_i) / n to use(first, mean), in stretches of
// whole blocks of the tree sum that stay in the first-level cache. Threads share the stretches.
template <class T, class Use>
void for_mean_of_rows(Pool& pool, const Field<T>& rows, double n, const Use& use) {
  constexpr std::size_t stretch = 16 * sum_block;
  pool.run((rows.cols() + stretch - 1) / stretch, [&](std::size_t s) {
    std::array<double, stretch> sum;
    const std::size_t first = s * stretch, count = std::min(stretch, rows.cols() - first);
    std::fill_n(sum.begin(), count, 0.0);
    add_rows(rows, first, count, sum.data());
    with_widest_vectors([&sum, count, n] {
      for (std::size_t k = 0; k < count; ++k) sum[k] /= n;
    });
    use(first, std::span<const double>(sum).first(count));
  });
}

// The squared norm of the sum divided by n, which is all that metrics need of a gradient.
template <class T>
double squared_norm_of_mean(Transport& t, Pool& pool, const Field<T>& rows, double n) {
  if (t.size() == 1) {
    std::vector<double> blocks(sum_blocks(rows.cols()));
    for_mean_of_rows(pool, rows, n, [&](std::size_t first, std::span<const double> mean) {
      block_sums(
          mean.size(), [m = mean.data()](std::size_t k) { return m[k] * m[k]; },
          &blocks[first / sum_block]);
    });
    return sum_of_blocks(blocks);
  }
  std::vector<double> mean = sum_to_last(t, pool, rows);
  for (double& v : mean) v /= n;
  const double mine = sum_of_squares<double>(mean);
  const Bytes told =
      broadcast(t, channel_metrics, t.size() - 1, to_bytes<double>(std::span(&mine, 1)));
  return from_bytes<double>(told, 1)[0];
}

}  // namespace ticopd
