#include "ticopd/data/dataset.hpp"

#include <algorithm>
#include <type_traits>

namespace ticopd {
namespace {

// Pixels by a multiplication: it vectorises where a division or a table would not, and differs from
// the division by at most one unit in the last place.
template <class T>
void read_row(const std::vector<std::uint8_t>& x, std::size_t sample, std::size_t features,
              T* out) {
  constexpr T scale = T(1) / T(255);
  const std::uint8_t* in = x.data() + sample * features;
  for (std::size_t k = 0; k < features; ++k) out[k] = static_cast<T>(in[k]) * scale;
}

template <class T>
void read_row(const std::vector<T>& x, std::size_t sample, std::size_t features, T* out) {
  std::copy_n(x.data() + sample * features, features, out);
}

template <class T>
void read_row(const SparseRows<T>& x, std::size_t sample, std::size_t features, T* out) {
  std::fill_n(out, features, T(0));
  for (std::size_t e = x.begin[sample]; e < x.begin[sample + 1]; ++e) out[x.index[e]] = x.value[e];
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
void Dataset<T>::read(std::span<const std::uint32_t> samples, T* out) const {
  std::visit(
      [&](const auto& x) {
        for (std::size_t r = 0; r < samples.size(); ++r)
          read_row(x, samples[r], features_, out + r * features_);
      },
      x_);
}

template <class T>
void Dataset<T>::read(std::size_t first, std::size_t count, T* out) const {
  std::visit(
      [&](const auto& x) {
        for (std::size_t r = 0; r < count; ++r)
          read_row(x, first + r, features_, out + r * features_);
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

template class Dataset<float>;
template class Dataset<double>;

}  // namespace ticopd
