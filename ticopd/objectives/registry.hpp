#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/objectives/shards.hpp"

namespace ticopd {

// The part of the [problem] table that says what f is; the rest of it says where the samples come
// from.
struct ObjectiveOptions {
  std::string objective = "mlp";
  std::vector<int> hidden{100};
  std::string activation = "sigmoid";
  double l2 = 0.0;
  double l2r = 0.1;  // of nonconvex_logistic
  std::string weighting = "agent";
  std::string init;  // "" is the objective's own default
};

// What the labels of an objective are.
enum class Labels { classes, two_classes, targets };

struct ObjectiveInfo {
  std::string_view name;
  std::string_view summary;
  Labels labels;
  std::string_view init;  // the default of problem.init
};

// All there are, for `ticopd list objectives` and for messages.
std::span<const ObjectiveInfo> objective_table();

// f over the given samples. `classes` is 0 if labels are targets of a regression. ConfigError names
// the key of [problem] that is wrong.
template <class T>
std::unique_ptr<Objective<T>> make_objective(const ObjectiveOptions& options, Shards<T> shards,
                                             Dataset<T> test, int classes);

// The same with one shard for each agent, all in this process.
template <class T>
std::unique_ptr<Objective<T>> make_objective(const ObjectiveOptions& options,
                                             std::vector<Dataset<T>> shards, Dataset<T> test,
                                             int classes) {
  return make_objective<T>(options, Shards<T>::of_all_agents(std::move(shards)), std::move(test),
                           classes);
}

extern template std::unique_ptr<Objective<float>> make_objective(const ObjectiveOptions&,
                                                                 Shards<float>, Dataset<float>,
                                                                 int);
extern template std::unique_ptr<Objective<double>> make_objective(const ObjectiveOptions&,
                                                                  Shards<double>, Dataset<double>,
                                                                  int);

}  // namespace ticopd
