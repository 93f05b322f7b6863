#include "ticopd/data/normalize.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class T>
Moments moments(std::size_t samples, std::size_t d, const EachSample<T>& each) {
  const auto m = static_cast<double>(samples);
  Moments found{std::vector<double>(d), std::vector<double>(d)};
  each([&](std::span<const T> row) {
    for (std::size_t k = 0; k < d; ++k) found.mean[k] += static_cast<double>(row[k]);
  });
  for (double& v : found.mean) v /= m;
  // A second pass, because the sum of squares minus the squared sum would cancel.
  each([&](std::span<const T> row) {
    for (std::size_t k = 0; k < d; ++k) {
      const double off = static_cast<double>(row[k]) - found.mean[k];
      found.deviation[k] += off * off;
    }
  });
  for (std::size_t k = 0; k < d; ++k) {
    const double v = std::sqrt(found.deviation[k] / m);
    // For a constant feature this is only the rounding of its mean: no deviation to divide by.
    found.deviation[k] = v > 1e-12 * std::abs(found.mean[k]) ? v : 1.0;
  }
  return found;
}

template <class T>
Dataset<T> applied(const Dataset<T>& data, const Moments& by) {
  const std::size_t d = data.features();
  std::vector<T> x(data.samples() * d);
  data.read(0, data.samples(), x.data());
  for (std::size_t s = 0; s < data.samples(); ++s)
    for (std::size_t k = 0; k < d; ++k) {
      T& v = x[s * d + k];
      v = static_cast<T>((static_cast<double>(v) - by.mean[k]) / by.deviation[k]);
    }
  return Dataset<T>(data.samples(), d, std::move(x), data.labels());
}

void check_size(std::size_t samples, std::size_t features) {
  if (samples > 0 && features > max_values / samples)
    throw ConfigError(
        fmt::format("problem.normalize = true: makes {} sparse samples of {} features dense, too "
                    "large; leave it false",
                    samples, features));
}

template <class T>
std::size_t samples_of(const std::vector<Dataset<T>>& sets) {
  std::size_t samples = 0;
  for (const Dataset<T>& set : sets) samples += set.samples();
  return samples;
}

// Calls `use` with each sample as a dense row.
template <class T>
void each_row(const Dataset<T>& data, const std::function<void(std::span<const T>)>& use) {
  std::vector<T> row(data.features());
  for (std::size_t s = 0; s < data.samples(); ++s) {
    data.read(s, 1, row.data());
    use(row);
  }
}

}  // namespace

template <class T>
void normalize(TrainTest<T>& data) {
  normalize<T>(data, data.train.samples(), [&](const std::function<void(std::span<const T>)>& use) {
    each_row(data.train, use);
  });
}

template <class T>
void normalize(TrainTest<T>& data, std::size_t train_samples, const EachSample<T>& each) {
  const std::size_t samples = train_samples + data.test.samples();
  if (samples == 0) return;
  check_size(samples, data.train.features());
  const Moments by = moments<T>(train_samples, data.train.features(), each);
  data.train = applied(data.train, by);
  if (data.test.samples() > 0) data.test = applied(data.test, by);
}

template <class T>
Moments moments_of(const std::vector<Dataset<T>>& train) {
  const auto each = [&](const std::function<void(std::span<const T>)>& use) {
    for (const Dataset<T>& part : train) each_row(part, use);
  };
  return moments<T>(samples_of(train), train.front().features(), each);
}

template <class T>
void normalize(std::vector<Dataset<T>>& train, Dataset<T>& test, const Moments& by) {
  check_size(samples_of(train) + test.samples(), by.mean.size());
  for (Dataset<T>& part : train) part = applied(part, by);
  if (test.samples() > 0) test = applied(test, by);
}

template void normalize(TrainTest<float>&);
template void normalize(TrainTest<double>&);
template void normalize(TrainTest<float>&, std::size_t, const EachSample<float>&);
template void normalize(TrainTest<double>&, std::size_t, const EachSample<double>&);
template Moments moments_of(const std::vector<Dataset<float>>&);
template Moments moments_of(const std::vector<Dataset<double>>&);
template void normalize(std::vector<Dataset<float>>&, Dataset<float>&, const Moments&);
template void normalize(std::vector<Dataset<double>>&, Dataset<double>&, const Moments&);

}  // namespace ticopd
