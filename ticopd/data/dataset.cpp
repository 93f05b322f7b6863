#include "ticopd/data/dataset.hpp"

#include <algorithm>
#include <type_traits>

namespace ticopd {
namespace {

// Scales pixels by a multiplication: it vectorises, which a division or a table does not, and
// differs from the division by at most one unit in the last place.
template <class T>
void read_row(std::span<const std::uint8_t> x, std::span<T> out) {
  constexpr T scale = T(1) / T(255);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<T>(x[k]) * scale;
}

template <class T>
void read_row(std::span<const T> x, std::span<T> out) {
  std::copy_n(x.data(), out.size(), out.data());
}

template <class T>
void read_row(const SparseSample<T>& x, std::span<T> out) {
  std::fill(out.begin(), out.end(), T(0));
  for (std::size_t e = 0; e < x.index.size(); ++e) out[x.index[e]] = x.value[e];
}

template <class V>
std::span<const V> row(const std::vector<V>& x, std::size_t sample, std::size_t features) {
  return std::span(x).subspan(sample * features, features);
}

template <class T>
SparseSample<T> row(const SparseRows<T>& x, std::size_t sample, std::size_t) {
  const std::size_t first = x.begin[sample], count = x.begin[sample + 1] - first;
  return {std::span(x.index).subspan(first, count), std::span(x.value).subspan(first, count)};
}

template <class V>
std::vector<V> pick(const std::vector<V>& x, std::span<const std::uint32_t> samples,
                    std::size_t width) {
  std::vector<V> out;
  out.reserve(samples.size() * width);
  for (const std::uint32_t s : samples) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(s * width);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

template <class T>
SparseRows<T> pick(const SparseRows<T>& x, std::span<const std::uint32_t> samples, std::size_t) {
  SparseRows<T> out;
  out.begin.reserve(samples.size() + 1);
  out.begin.push_back(0);
  for (const std::uint32_t s : samples) {
    for (std::size_t e = x.begin[s]; e < x.begin[s + 1]; ++e) {
      out.index.push_back(x.index[e]);
      out.value.push_back(x.value[e]);
    }
    out.begin.push_back(out.index.size());
  }
  return out;
}

template <class V>
std::size_t held(const std::vector<V>& x) {
  return x.capacity() * sizeof(V);
}

template <class T>
std::size_t held(const SparseRows<T>& x) {
  return held(x.begin) + held(x.index) + held(x.value);
}

}  // namespace

template <class T>
void read(const Sample<T>& sample, std::span<T> out) {
  std::visit([&](const auto& x) { read_row(x, out); }, sample);
}

template <class T>
void Dataset<T>::read(std::span<const std::uint32_t> samples, T* out) const {
  std::visit(
      [&](const auto& x) {
        for (std::size_t r = 0; r < samples.size(); ++r)
          read_row(row(x, samples[r], features_), std::span(out + r * features_, features_));
      },
      x_);
}

template <class T>
void Dataset<T>::read(std::size_t first, std::size_t count, T* out) const {
  std::visit(
      [&](const auto& x) {
        for (std::size_t r = 0; r < count; ++r)
          read_row(row(x, first + r, features_), std::span(out + r * features_, features_));
      },
      x_);
}

template <class T>
Dataset<T> Dataset<T>::select(std::span<const std::uint32_t> samples) const {
  Features x =
      std::visit([&](const auto& v) -> Features { return pick(v, samples, features_); }, x_);
  return Dataset(samples.size(), features_, std::move(x), pick(labels_, samples, 1));
}

template <class T>
std::size_t Dataset<T>::bytes() const {
  return std::visit([](const auto& x) { return held(x); }, x_) + held(labels_);
}

template void read(const Sample<float>&, std::span<float>);
template void read(const Sample<double>&, std::span<double>);
template class Dataset<float>;
template class Dataset<double>;

}  // namespace ticopd
