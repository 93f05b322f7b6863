#include "ticopd/objectives/columns.hpp"

#include <algorithm>
#include <utility>

namespace ticopd {
namespace {

template <class V>
void mark_used(const std::vector<V>& x, std::vector<char>& used) {
  const std::size_t features = used.size();
  for (std::size_t first = 0; first < x.size(); first += features)
    for (std::size_t k = 0; k < features; ++k) used[k] |= x[first + k] != V(0);
}

template <class T>
void mark_used(const SparseRows<T>& x, std::vector<char>& used) {
  for (std::size_t e = 0; e < x.index.size(); ++e) used[x.index[e]] |= x.value[e] != T(0);
}

template <class V>
std::vector<V> keep(const std::vector<V>& x, std::size_t features, const Columns& columns) {
  std::vector<V> kept;
  kept.reserve(x.size() / features * columns.count);
  for (auto row = x.begin(); row != x.end(); row += static_cast<std::ptrdiff_t>(features))
    for (const Columns::Run& run : columns.runs) {
      const auto first = row + static_cast<std::ptrdiff_t>(run.first);
      kept.insert(kept.end(), first, first + static_cast<std::ptrdiff_t>(run.count));
    }
  return kept;
}

template <class T>
SparseRows<T> keep(const SparseRows<T>& x, std::size_t features, const Columns& columns) {
  constexpr std::uint32_t dropped = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(features, dropped);
  std::uint32_t next = 0;
  for (const Columns::Run& run : columns.runs)
    for (std::size_t k = 0; k < run.count; ++k) place[run.first + k] = next++;
  SparseRows<T> kept;
  kept.begin.push_back(0);
  for (std::size_t row = 0; row + 1 < x.begin.size(); ++row) {
    for (std::size_t e = x.begin[row]; e < x.begin[row + 1]; ++e)
      if (place[x.index[e]] != dropped) {  // a stored zero may lie in a dropped column
        kept.index.push_back(place[x.index[e]]);
        kept.value.push_back(x.value[e]);
      }
    kept.begin.push_back(kept.index.size());
  }
  return kept;
}

// f(wide offset, narrow offset, count) for every stretch of parameters that both have.
template <class F>
void for_stretches(const std::vector<Part>& parts, const Columns& columns, F f) {
  std::size_t wide = 0, narrow = 0;
  for (const Part& part : parts) {
    const std::size_t size = part.size();
    if (!part.by_feature) {
      f(wide, narrow, size);
      narrow += size;
    } else {
      const std::size_t features = part.segment.shape.back();
      for (std::size_t row = wide; row < wide + size; row += features)
        for (const Columns::Run& run : columns.runs) {
          f(row + run.first, narrow, run.count);
          narrow += run.count;
        }
    }
    wide += size;
  }
}

}  // namespace

template <class T>
Columns used_columns(const Dataset<T>& data) {
  std::vector<char> used(data.features());
  if (data.features() > 0) std::visit([&](const auto& x) { mark_used(x, used); }, data.raw());
  Columns columns;
  for (std::size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) continue;
    if (k == 0 || !used[k - 1]) columns.runs.push_back({k, 0});
    ++columns.runs.back().count;
    ++columns.count;
  }
  return columns;
}

template <class T>
Dataset<T> keep_columns(const Dataset<T>& data, const Columns& columns) {
  using Features = typename Dataset<T>::Features;
  Features x = std::visit(
      [&](const auto& all) -> Features { return keep(all, data.features(), columns); }, data.raw());
  return Dataset<T>(data.samples(), columns.count, std::move(x), data.labels());
}

template <class T>
void narrow(const std::vector<Part>& parts, const Columns& columns, const T* x, T* narrow_x) {
  for_stretches(parts, columns, [=](std::size_t wide, std::size_t narrow, std::size_t count) {
    std::copy_n(x + wide, count, narrow_x + narrow);
  });
}

template <class T>
void widen(const std::vector<Part>& parts, const Columns& columns, const T* narrow_g, T* g) {
  std::size_t done = 0;
  for_stretches(parts, columns, [&](std::size_t wide, std::size_t narrow, std::size_t count) {
    std::fill(g + done, g + wide, T(0));
    std::copy_n(narrow_g + narrow, count, g + wide);
    done = wide + count;
  });
  std::size_t dimension = 0;
  for (const Part& part : parts) dimension += part.size();
  std::fill(g + done, g + dimension, T(0));
}

template Columns used_columns(const Dataset<float>&);
template Columns used_columns(const Dataset<double>&);
template Dataset<float> keep_columns(const Dataset<float>&, const Columns&);
template Dataset<double> keep_columns(const Dataset<double>&, const Columns&);
template void narrow(const std::vector<Part>&, const Columns&, const float*, float*);
template void narrow(const std::vector<Part>&, const Columns&, const double*, double*);
template void widen(const std::vector<Part>&, const Columns&, const float*, float*);
template void widen(const std::vector<Part>&, const Columns&, const double*, double*);

}  // namespace ticopd
