#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ticopd/data/dataset.hpp"
#include "ticopd/objectives/model.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/objectives/options.hpp"
#include "ticopd/objectives/shards.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

template <class T>
using MakeModel = std::unique_ptr<Model<T>> (*)(const ObjectiveOptions&, ProblemSizes);

// An entry of the table of objectives.
struct ObjectiveInfo {
  std::string name;  // the word of problem.objective
  Labels labels;
  std::string init;  // the default of problem.init
  std::string summary;
  std::vector<std::string> options;  // those it takes, besides those that all take
  MakeModel<float> make_float = nullptr;
  MakeModel<double> make_double = nullptr;
  DeviceOutline outline = nullptr;  // null: devices have no kernels for it
  // A program brings it (external.hpp): it reads no data and takes no other option.
  bool external = false;
};

// The objectives (registry.cpp) and the options of all of them (options.cpp).
Table<ObjectiveInfo>& objective_table();
Table<Option<ObjectiveOptions>>& objective_options_table();

// f over the given samples. `classes` is 0 if labels are targets of a regression. ConfigError names
// the key of [problem] that is wrong.
template <class T>
std::unique_ptr<Objective<T>> make_objective(const ObjectiveOptions& options, Shards<T> shards,
                                             Dataset<T> test, int classes);

// The same, with one shard per agent, all in this process.
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
