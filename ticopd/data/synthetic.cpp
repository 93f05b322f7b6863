#include "ticopd/data/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/noise.hpp"

namespace ticopd {
namespace {

// The purposes of draws inside stream_synthetic: the parameters once, then a generator for each
// sample.
enum Part : std::uint32_t { part_means = 1, part_classes, part_weights, part_regression };

void check(std::size_t samples, std::size_t features) {
  if (samples < 1 || samples > std::numeric_limits<std::uint32_t>::max() / 2)
    throw ConfigError(fmt::format("problem.samples = {}: allowed are 1 ... 2^31", samples));
  if (features < 1 || features > max_values / samples)
    throw ConfigError(
        fmt::format("problem.features = {}: allowed are 1 up to 2^33 / problem.samples", features));
}

std::vector<double> class_means(std::size_t classes, std::size_t features, std::uint64_t seed) {
  std::vector<double> means(classes * features);
  Generator random(Noise{seed, 0, part_means, stream_synthetic});
  for (double& m : means) m = random.normal();
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < classes; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      double distance = 0;
      for (std::size_t k = 0; k < features; ++k) {
        const double difference = means[a * features + k] - means[b * features + k];
        distance += difference * difference;
      }
      nearest = std::min(nearest, distance);
    }
  for (double& m : means) m *= 6 / std::sqrt(nearest);
  return means;
}

template <class T>
T rounded(double value) {
  return static_cast<T>(static_cast<float>(value));
}

// Samples [first, first + count). fill(sample, its own generator, row) -> label makes one; label_of
// gives the label alone, or nothing if the label depends on the features.
template <class T, class Label, class Fill>
Reading<T> made(std::size_t first, std::size_t count, std::size_t features, std::uint64_t seed,
                Part part, Label label_of, Fill fill) {
  return [=](const Wanted& wanted, const Take<T>& take) {
    Contents found{std::vector<double>(count), features};
    std::vector<T> row(features);
    for (std::size_t s = 0; s < count; ++s) {
      const std::optional<double> label = label_of(first + s);
      if (label && !wanted(s)) {
        found.labels[s] = *label;
        continue;
      }
      Generator random(Noise{seed, static_cast<std::uint32_t>(first + s), part, stream_synthetic});
      found.labels[s] = fill(first + s, random, row.data());
      if (wanted(s)) take(std::span<const T>(row));
    }
    return found;
  };
}

}  // namespace

template <class T>
SampleSource<T> synthetic_classes_source(std::size_t samples, std::size_t features, int classes,
                                         std::uint64_t seed) {
  check(samples, features);
  if (classes < 2 || classes > 10000)
    throw ConfigError(fmt::format("problem.classes = {}: allowed are 2 ... 10000", classes));
  const auto c = static_cast<std::size_t>(classes);
  const auto label_of = [=](std::size_t sample) {
    return std::optional<double>(static_cast<double>(sample % c));
  };
  const auto fill = [=, means = class_means(c, features, seed)](std::size_t sample,
                                                                Generator& random, T* row) {
    const std::size_t label = sample % c;
    for (std::size_t k = 0; k < features; ++k)
      row[k] = rounded<T>(means[label * features + k] + random.normal());
    return static_cast<double>(label);
  };
  return {made<T>(0, samples, features, seed, part_classes, label_of, fill),
          made<T>(samples, samples / 5, features, seed, part_classes, label_of, fill),
          [classes](Contents&, Contents&) { return classes; }};
}

template <class T>
SampleSource<T> synthetic_regression_source(std::size_t samples, std::size_t features,
                                            std::uint64_t seed) {
  check(samples, features);
  std::vector<double> weights(features);
  Generator random_weights(Noise{seed, 0, part_weights, stream_synthetic});
  for (double& w : weights) w = random_weights.normal() / std::sqrt(static_cast<double>(features));
  const auto label_of = [](std::size_t) { return std::optional<double>(); };
  const auto fill = [=](std::size_t, Generator& random, T* row) {
    double target = 0;
    for (std::size_t k = 0; k < features; ++k) {
      row[k] = rounded<T>(random.normal());
      target += weights[k] * static_cast<double>(row[k]);
    }
    return static_cast<double>(rounded<T>(target + 0.1 * random.normal()));
  };
  return {made<T>(0, samples, features, seed, part_regression, label_of, fill),
          made<T>(samples, samples / 5, features, seed, part_regression, label_of, fill),
          [](Contents&, Contents&) { return 0; }};
}

template <class T>
TrainTest<T> synthetic_classes(std::size_t samples, std::size_t features, int classes,
                               std::uint64_t seed) {
  TrainTest<T> data = gather(synthetic_classes_source<T>(samples, features, classes, seed));
  data.name = "synthetic";
  return data;
}

template <class T>
TrainTest<T> synthetic_regression(std::size_t samples, std::size_t features, std::uint64_t seed) {
  TrainTest<T> data = gather(synthetic_regression_source<T>(samples, features, seed));
  data.name = "synthetic";
  return data;
}

template SampleSource<float> synthetic_classes_source(std::size_t, std::size_t, int, std::uint64_t);
template SampleSource<double> synthetic_classes_source(std::size_t, std::size_t, int,
                                                       std::uint64_t);
template SampleSource<float> synthetic_regression_source(std::size_t, std::size_t, std::uint64_t);
template SampleSource<double> synthetic_regression_source(std::size_t, std::size_t, std::uint64_t);
template TrainTest<float> synthetic_classes(std::size_t, std::size_t, int, std::uint64_t);
template TrainTest<double> synthetic_classes(std::size_t, std::size_t, int, std::uint64_t);
template TrainTest<float> synthetic_regression(std::size_t, std::size_t, std::uint64_t);
template TrainTest<double> synthetic_regression(std::size_t, std::size_t, std::uint64_t);

}  // namespace ticopd
