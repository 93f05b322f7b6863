#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/numeric/noise.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd::made_up {

inline Generator generator(std::uint32_t stream) {
  return Generator(Noise{7, 0, 0, stream});
}

template <class T>
std::vector<T> normals(std::size_t count, std::uint32_t stream, double scale = 1.0) {
  Generator draw = generator(stream);
  std::vector<T> v(count);
  for (T& a : v) a = static_cast<T>(scale * draw.normal());
  return v;
}

// Dense normal features; labels are classes 0 ... classes - 1, or normal targets for classes = 0.
// Float and double hold the same numbers, so that runs of both can be compared.
template <class T>
Dataset<T> samples(std::size_t count, std::size_t features, int classes, std::uint32_t stream) {
  const std::vector<float> values = normals<float>(count * features, stream);
  Generator draw = generator(stream + 1000);
  std::vector<double> labels(count);
  for (double& label : labels)
    label = classes > 0 ? static_cast<double>(draw.below(static_cast<std::size_t>(classes)))
                        : draw.normal();
  return Dataset<T>(count, features, std::vector<T>(values.begin(), values.end()),
                    std::move(labels));
}

struct Problem {
  ObjectiveOptions options;
  std::vector<std::size_t> shards{13, 5, 8};
  std::size_t features = 6;
  int classes = 3;
};

template <class T>
std::unique_ptr<Objective<T>> objective(const Problem& problem) {
  std::vector<Dataset<T>> shards;
  std::uint32_t stream = 1;
  for (const std::size_t count : problem.shards)
    shards.push_back(samples<T>(count, problem.features, problem.classes, stream++));
  return make_objective<T>(problem.options, std::move(shards),
                           samples<T>(9, problem.features, problem.classes, 500), problem.classes);
}

// ||v - w|| / ||w|| in double.
template <class V, class W>
double relative_distance(const V& v, const W& w) {
  double difference = 0.0, norm = 0.0;
  for (std::size_t k = 0; k < w.size(); ++k) {
    const double e = static_cast<double>(v[k]) - static_cast<double>(w[k]);
    difference += e * e;
    norm += static_cast<double>(w[k]) * static_cast<double>(w[k]);
  }
  return std::sqrt(difference / norm);
}

inline ObjectiveOptions options_of(const std::string& name) {
  ObjectiveOptions options;
  options.objective = name;
  return options;
}

}  // namespace ticopd::made_up
