#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "objectives/made_up.hpp"
#include "ticopd/cuda/gradients/objective.hpp"
#include "ticopd/cuda/runtime/memory.hpp"
#include "ticopd/cuda/runtime/queue.hpp"
#include "ticopd/numeric/permutation.hpp"

namespace ticopd::cuda {

// Describes a problem for the device and for the CPU.
struct Made {
  ObjectiveOptions options;
  std::vector<std::size_t> shards{65, 1, 130};
  std::size_t features = 37;
  std::size_t classes = 5;
  bool u8 = true;
  bool one_class_each = false;  // agent i has only samples of class i
};

// Half of the pixels are 0, and every fifth pixel is 0 in all samples.
template <class T>
Dataset<T> made_samples(const Made& made, std::size_t count, std::uint32_t stream, int only_class) {
  Generator draw = made_up::generator(stream);
  std::vector<double> labels(count);
  for (double& label : labels)
    label = made.options.objective == "least_squares" ? draw.normal()
            : only_class >= 0                         ? only_class
                              : static_cast<double>(draw.below(made.classes));
  if (made.u8) {
    std::vector<std::uint8_t> pixels(count * made.features);
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      const std::uint32_t bits = draw.bits();
      if (k % made.features % 5 != 2 && bits % 2 == 0)
        pixels[k] = static_cast<std::uint8_t>(bits >> 8);
    }
    return Dataset<T>(count, made.features, std::move(pixels), std::move(labels));
  }
  std::vector<T> values(count * made.features);
  for (T& v : values) v = static_cast<T>(static_cast<float>(draw.normal()));
  return Dataset<T>(count, made.features, std::move(values), std::move(labels));
}

constexpr std::size_t made_test_samples = 211;

template <class T>
std::vector<Dataset<T>> made_shards(const Made& made) {
  std::vector<Dataset<T>> shards;
  for (std::size_t i = 0; i < made.shards.size(); ++i)
    shards.push_back(
        made_samples<T>(made, made.shards[i], static_cast<std::uint32_t>(i + 1),
                        made.one_class_each ? static_cast<int>(i % made.classes) : -1));
  return shards;
}

inline Problem made_problem(const Made& made) {
  Problem problem;
  problem.shards = made_shards<float>(made);
  problem.test = made_samples<float>(made, made_test_samples, 900, -1);
  problem.l2 = made.options.l2;
  problem.weight_by_sample = made.options.weighting == "sample";
  problem.phi = activation_of(made.options.activation);
  problem.widths = {made.features};
  if (made.options.objective == "mlp")
    for (const int width : made.options.hidden)
      problem.widths.push_back(static_cast<std::size_t>(width));
  if (made.options.objective == "logistic") problem.loss = Problem::Loss::logistic;
  if (made.options.objective == "least_squares") problem.loss = Problem::Loss::least_squares;
  problem.widths.push_back(problem.loss == Problem::Loss::cross_entropy ? made.classes : 1);
  return problem;
}

template <class T>
std::unique_ptr<Objective<T>> made_objective(const Made& made) {
  const int classes =
      made.options.objective == "least_squares" ? 0 : static_cast<int>(made.classes);
  return make_objective<T>(made.options, made_shards<T>(made),
                           made_samples<T>(made, made_test_samples, 900, -1), classes);
}

// Copies rows to the device, evaluates the general objective there and returns results on the host.
class Device {
 public:
  explicit Device(const Problem& problem, bool tf32 = false)
      : objective_(make_general_objective(problem, tf32)) {}

  using Table = std::vector<std::vector<float>>;
  struct Result {
    std::vector<double> values;
    Table gradients;
  };

  // `shared`: all agents use the first row, with a stride of 0.
  Result evaluate(const Table& x, std::size_t agents, bool shared = false) {
    Buffer<float> at = upload(x), to(agents * stride(x));
    Buffer<double> values(agents);
    objective_->evaluate(queue_, {at.data(), shared ? 0 : stride(x)}, values.data(),
                         {to.data(), stride(x)});
    queue_.finish();
    return {values.download(), rows_of(to, agents, x[0].size())};
  }
  std::vector<double> values(const Table& x) {
    Buffer<float> at = upload(x);
    Buffer<double> values(x.size());
    objective_->evaluate(queue_, {at.data(), stride(x)}, values.data(), Rows{});
    queue_.finish();
    return values.download();
  }
  Table gradient(const Table& x) {
    Buffer<float> at = upload(x), to(x.size() * stride(x));
    objective_->gradient(queue_, {at.data(), stride(x)}, {to.data(), stride(x)});
    queue_.finish();
    return rows_of(to, x.size(), x[0].size());
  }
  Table batch_gradient(const Table& x, std::uint32_t round, std::uint64_t seed, std::size_t batch) {
    Buffer<float> at = upload(x), to(x.size() * stride(x));
    queue_.begin_round(round);
    objective_->batch_gradient(queue_, {at.data(), stride(x)}, {to.data(), stride(x)}, seed, batch);
    queue_.finish();
    return rows_of(to, x.size(), x[0].size());
  }
  std::vector<std::uint32_t> correct(const Table& x) {
    Buffer<float> at = upload(x);
    Buffer<std::uint32_t> right(std::vector<std::uint32_t>(x.size(), 12345));
    objective_->correct(queue_, {at.data(), stride(x)}, x.size(), right.data());
    queue_.finish();
    return right.download();
  }

 private:
  static std::size_t stride(const Table& x) { return (x[0].size() + 127) / 128 * 128; }
  static Buffer<float> upload(const Table& x) {
    std::vector<float> flat(x.size() * stride(x));
    for (std::size_t i = 0; i < x.size(); ++i)
      std::copy(x[i].begin(), x[i].end(),
                flat.begin() + static_cast<std::ptrdiff_t>(i * stride(x)));
    return Buffer<float>(flat);
  }
  static Table rows_of(const Buffer<float>& from, std::size_t rows, std::size_t d) {
    const std::vector<float> flat = from.download();
    Table table;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(i * (flat.size() / rows));
      table.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(d));
    }
    return table;
  }

  std::unique_ptr<GeneralObjective> objective_;
  Queue queue_;
};

// The states at which rounding is compared. Every agent has its own row.
enum class State { init, late, overfit };

inline Device::Table rows_at(State state, const Made& made, const Objective<float>& f) {
  Device::Table x;
  for (std::size_t i = 0; i < made.shards.size(); ++i) {
    std::vector<float> row(f.dimension());
    f.start(100 + i, row);
    if (f.dimension() == made.features)  // logistic and least squares start at 0
      row = made_up::normals<float>(row.size(), static_cast<std::uint32_t>(50 + i), 0.1);
    if (state != State::init)
      for (float& v : row) v *= 5.0f;
    // All samples are of one class and the model is certain of it, so deltas are exponentially
    // small.
    if (state == State::overfit) row[row.size() - made.classes + i % made.classes] += 14.0f;
    x.push_back(std::move(row));
  }
  return x;
}

inline std::vector<double> exactly(const std::vector<float>& row) {
  return {row.begin(), row.end()};
}

}  // namespace ticopd::cuda
