#pragma once

#include <concepts>
#include <cstdint>
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

// Makes an objective that brings its data itself, for so many agents. The seed is the run's.
template <class T>
using BringObjective = std::shared_ptr<const Objective<T>> (*)(const ObjectiveOptions&, int agents,
                                                               std::uint64_t seed);

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
  // It reads none of the samples that [problem] describes, and refuses the keys about them. A
  // program brings it (external.hpp), or the functions below make it.
  bool external = false;
  BringObjective<float> bring_float = nullptr;
  BringObjective<double> bring_double = nullptr;
};

// The entry of a class of models: a template on the scalar type with members `about` and `make`.
template <template <class> class Kind>
ObjectiveInfo objective_info() {
  const ObjectiveAbout& about = Kind<float>::about;
  ObjectiveInfo info{.name = std::string(about.name),
                     .labels = about.labels,
                     .init = std::string(about.init),
                     .summary = std::string(about.summary),
                     .options = {},
                     .make_float = Kind<float>::make,
                     .make_double = Kind<double>::make,
                     .outline = about.outline};
  for (const std::string_view option : about.options)
    if (!option.empty()) info.options.emplace_back(option);
  return info;
}

// The entry of an objective that brings its data: a template on the scalar type, derived from
// Objective<T>, with a constructor from (const ObjectiveOptions&, int agents, std::uint64_t seed)
// and a member `about`.
template <template <class> class Kind>
ObjectiveInfo own_objective_info() {
  const ObjectiveAbout& about = Kind<float>::about;
  ObjectiveInfo info{
      .name = std::string(about.name),
      .labels = Labels::targets,
      .init = "",
      .summary = std::string(about.summary),
      .options = {},
      .external = true,
      .bring_float = [](const ObjectiveOptions& o, int agents,
                        std::uint64_t seed) -> std::shared_ptr<const Objective<float>> {
        return std::make_shared<Kind<float>>(o, agents, seed);
      },
      .bring_double = [](const ObjectiveOptions& o, int agents,
                         std::uint64_t seed) -> std::shared_ptr<const Objective<double>> {
        return std::make_shared<Kind<double>>(o, agents, seed);
      }};
  for (const std::string_view option : about.options)
    if (!option.empty()) info.options.emplace_back(option);
  return info;
}

// The objectives (registry.cpp) and the options of all of them (options.cpp).
Table<ObjectiveInfo>& objective_table();
Table<Option<ObjectiveOptions>>& objective_options_table();

// The value of an option that ObjectiveOptions has no member for, or its default.
template <class V, std::same_as<ObjectiveOptions> Options>
V own_value(const Options& options, std::string_view name) {
  return own_value<V>(objective_options_table(), options, name);
}

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
