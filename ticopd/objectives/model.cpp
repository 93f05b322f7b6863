#include "ticopd/objectives/model.hpp"

#include <cmath>
#include <utility>

#include "ticopd/numeric/noise.hpp"

namespace ticopd {

template <class T>
std::size_t Model<T>::dimension() const {
  std::size_t size = 0;
  for (const Part& part : parts()) size += part.size();
  return size;
}

template <class T>
std::vector<Segment> Model<T>::segments() const {
  std::vector<Segment> segments;
  for (Part& part : parts()) segments.push_back(std::move(part.segment));
  return segments;
}

template <class T>
void Model<T>::start(std::uint64_t seed, std::span<T> x) const {
  const Noise noise{seed, 0, 0, stream_init};
  std::size_t k = 0;
  for (const Part& part : parts()) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(part.fan_in));
    for (const std::size_t last = k + part.size(); k < last; ++k)
      x[k] = static_cast<T>((2.0 * noise.uniform(k) - 1.0) * bound);
  }
}

template class Model<float>;
template class Model<double>;

}  // namespace ticopd
