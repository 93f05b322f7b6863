#include "ticopd/objectives/registry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ticopd/error.hpp"
#include "ticopd/objectives/least_squares.hpp"
#include "ticopd/objectives/logistic.hpp"
#include "ticopd/objectives/mlp.hpp"
#include "ticopd/objectives/nonconvex_logistic.hpp"
#include "ticopd/objectives/sample_problem.hpp"
#include "ticopd/objectives/samples.hpp"
#include "ticopd/objectives/softmax.hpp"

namespace ticopd {
namespace {

constexpr std::size_t most_parameters = std::size_t{1} << 32;  // messages number them with 32 bits
constexpr std::size_t most_layers = 64;  // keeps the sum of their products far from overflow

// Throws ConfigError if the data does not have the classes that the objective needs.
void check_classes(const ObjectiveInfo& info, int classes) {
  const std::string given = "problem.objective = \"" + std::string(info.name) + "\" needs ";
  const std::string there = classes == 0 ? std::string("the data has targets, not classes")
                                         : "the data has " + std::to_string(classes);
  if (info.labels == Labels::two_classes && classes != 2)
    throw ConfigError(given + "exactly 2 classes, " + there +
                      (classes > 2 ? "; \"softmax\" takes any number" : ""));
  if (info.labels == Labels::classes && classes < 2)
    throw ConfigError(given + "at least 2 classes, " + there);
}

struct Width {
  std::size_t features;
  int agent;  // that has so many
};

// Labels become indices later, so every one is checked here.
template <class T>
void check_labels(const Dataset<T>& data, const std::string& what, Width expected,
                  const ObjectiveInfo& info, int classes) {
  if (data.samples() == 0) return;
  if (data.features() != expected.features)
    throw ConfigError("problem.data: " + what + " has " + std::to_string(data.features()) +
                      " features, agent " + std::to_string(expected.agent) + " has " +
                      std::to_string(expected.features));
  if (data.labels().size() != data.samples())
    throw ConfigError("problem.data: " + what + " has " + std::to_string(data.samples()) +
                      " samples and " + std::to_string(data.labels().size()) + " labels");
  for (const double label : data.labels()) {
    const bool fine = info.labels == Labels::targets
                          ? std::isfinite(label)
                          : label >= 0 && label < classes && label == std::floor(label);
    if (fine) continue;
    const std::string allowed = info.labels == Labels::targets
                                    ? std::string("a finite number is needed")
                                    : "classes are 0 ... " + std::to_string(classes - 1);
    throw ConfigError("problem.data: " + what + " has the label " + std::to_string(label) + ": " +
                      allowed);
  }
}

// The objective as data without its samples; null: devices have no kernels for it.
std::unique_ptr<SampleProblem> device_outline(const ObjectiveInfo& info,
                                              const ObjectiveOptions& options, ProblemSizes sizes) {
  if (info.outline == nullptr) return nullptr;
  auto problem = std::make_unique<SampleProblem>(info.outline(options, sizes));
  problem->l2 = options.l2;
  problem->weight_by_sample = options.weighting == "sample";
  return problem;
}

}  // namespace

// A new objective is a header and a line here.
Table<ObjectiveInfo>& objective_table() {
  static Table<ObjectiveInfo> table{"problem.objective",
                                    {objective_info<Mlp>(),
                                     objective_info<Softmax>(),
                                     objective_info<Logistic>(),
                                     objective_info<NonconvexLogistic>(),
                                     objective_info<LeastSquares>(),
                                     {.name = "external",
                                      .labels = Labels::targets,
                                      .init = "",
                                      .summary = "an objective of your own, from C++ or Python",
                                      .options = {"name"},
                                      .external = true}}};
  return table;
}

template <class T>
std::unique_ptr<Objective<T>> make_objective(const ObjectiveOptions& options, Shards<T> shards,
                                             Dataset<T> test, int classes) {
  const ObjectiveInfo& info = objective_table().at(options.objective);
  if (info.external)
    throw ConfigError("problem.objective = \"" + info.name +
                      "\": is brought by a program, and made of no samples");
  check_options(objective_options_table(), objective_options_table().names(), options, "problem");
  if (options.hidden.size() > most_layers)
    throw ConfigError("problem.hidden has " + std::to_string(options.hidden.size()) +
                      " layers: at most " + std::to_string(most_layers) + " are allowed");
  const std::string& init = options.init.empty() ? info.init : options.init;
  const SampleOptions sample_options{options.l2, options.weighting == "sample", init == "zero"};
  check_classes(info, classes);
  if (shards.hosted.empty()) throw ConfigError("problem.data: there is no agent to give it to");

  const std::size_t features = shards.hosted.front().features();
  if (features == 0) throw ConfigError("problem.data has no features");
  for (std::size_t i = 0; i < shards.hosted.size(); ++i)
    check_labels(shards.hosted[i],
                 "agent " + std::to_string(static_cast<std::size_t>(shards.first) + i),
                 {features, shards.first}, info, classes);
  if (info.labels != Labels::targets)
    check_labels(test, "the test set", {features, shards.first}, info, classes);

  const ProblemSizes sizes{features, static_cast<std::size_t>(classes)};
  std::unique_ptr<Model<T>> model;
  if constexpr (sizeof(T) == 4)
    model = info.make_float(options, sizes);
  else
    model = info.make_double(options, sizes);
  if (model->dimension() > most_parameters)
    throw ConfigError("problem.hidden makes " + std::to_string(model->dimension()) +
                      " parameters: at most " + std::to_string(most_parameters) + " are allowed");
  auto made = std::make_unique<SampleObjective<T>>(std::move(model), std::move(shards),
                                                   std::move(test), sample_options);
  made->set_device_outline(device_outline(info, options, sizes));
  return made;
}

template std::unique_ptr<Objective<float>> make_objective(const ObjectiveOptions&, Shards<float>,
                                                          Dataset<float>, int);
template std::unique_ptr<Objective<double>> make_objective(const ObjectiveOptions&, Shards<double>,
                                                           Dataset<double>, int);

}  // namespace ticopd
