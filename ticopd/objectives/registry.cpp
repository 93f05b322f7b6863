#include "ticopd/objectives/registry.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
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

struct Sizes {
  std::size_t features;
  std::size_t classes;
};

constexpr std::size_t most_parameters = std::size_t{1} << 32;  // messages number them with 32 bits

// problem.hidden as sizes. The bound keeps their products and the sum of those far from overflow.
std::vector<std::size_t> hidden_sizes(const std::vector<int>& hidden) {
  constexpr int most = 1 << 20;
  if (hidden.size() > 64)
    throw ConfigError("problem.hidden has " + std::to_string(hidden.size()) +
                      " layers: at most 64 are allowed");
  std::vector<std::size_t> sizes;
  for (const int width : hidden) {
    if (width < 1 || width > most)
      throw ConfigError("problem.hidden holds " + std::to_string(width) +
                        ": the size of a layer is 1 ... " + std::to_string(most));
    sizes.push_back(static_cast<std::size_t>(width));
  }
  return sizes;
}

template <class T>
using Made = std::unique_ptr<Model<T>>;

template <class T>
Made<T> make_mlp(const ObjectiveOptions& options, Sizes sizes) {
  return std::make_unique<Mlp<T>>(sizes.features, hidden_sizes(options.hidden), sizes.classes,
                                  activation_of(options.activation));
}
template <class T>
Made<T> make_softmax(const ObjectiveOptions&, Sizes sizes) {
  return std::make_unique<Softmax<T>>(sizes.features, sizes.classes);
}
template <class T>
Made<T> make_logistic(const ObjectiveOptions&, Sizes sizes) {
  return std::make_unique<Logistic<T>>(sizes.features);
}
template <class T>
Made<T> make_nonconvex_logistic(const ObjectiveOptions& options, Sizes sizes) {
  return std::make_unique<NonconvexLogistic<T>>(sizes.features, options.l2r);
}
template <class T>
Made<T> make_least_squares(const ObjectiveOptions&, Sizes sizes) {
  return std::make_unique<LeastSquares<T>>(sizes.features);
}

template <class T>
struct Entry {
  ObjectiveInfo info;
  Made<T> (*make)(const ObjectiveOptions&, Sizes);
};

// A new objective is one header, a function above that makes it, and an entry here.
template <class T>
constexpr auto entries = std::to_array<Entry<T>>({
    {{"mlp", "multilayer perceptron (hidden, activation), softmax cross-entropy", Labels::classes,
      "torch"},
     make_mlp<T>},
    {{"softmax", "multinomial logistic regression, with biases", Labels::classes, "torch"},
     make_softmax<T>},
    {{"logistic", "log(1 + exp(-y a.x)), two classes", Labels::two_classes, "zero"},
     make_logistic<T>},
    {{"nonconvex_logistic", "logistic + l2r * sum_k x_k^2 / (1 + x_k^2)", Labels::two_classes,
      "zero"},
     make_nonconvex_logistic<T>},
    {{"least_squares", "||A x - b||^2 / (2 m), b the labels", Labels::targets, "zero"},
     make_least_squares<T>},
});

template <class T>
const Entry<T>& entry_of(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Entry<T>& entry : entries<T>) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  throw ConfigError(not_allowed("problem.objective", name, names));
}

std::string_view word_of(std::string_view key, const std::string& given, std::string_view first,
                         std::string_view second) {
  const std::array<std::string_view, 2> allowed{first, second};
  for (const std::string_view word : allowed)
    if (given == word) return word;
  throw ConfigError(not_allowed(key, given, allowed));
}

void check_weight(std::string_view key, double weight) {
  if (!(weight >= 0.0) || !std::isfinite(weight))
    throw ConfigError(std::string(key) + " = " + std::to_string(weight) +
                      ": a finite number >= 0 is needed");
}

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
  int agent;  // who has them
};

// Labels become indices further down, so none may slip through.
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

// The objective as data, if devices have kernels for it; null: they have none.
std::shared_ptr<const SampleProblem> sample_problem(const ObjectiveOptions& objective,
                                                    const Shards<float>& shards,
                                                    const Dataset<float>& test, int classes) {
  auto problem = std::make_shared<SampleProblem>();
  const std::size_t features = shards.hosted.front().features();
  if (objective.objective == "mlp" || objective.objective == "softmax") {
    problem->widths.push_back(features);
    if (objective.objective == "mlp") {
      problem->phi = activation_of(objective.activation);
      for (const int width : objective.hidden)
        problem->widths.push_back(static_cast<std::size_t>(width));
    }
    problem->widths.push_back(static_cast<std::size_t>(classes));
  } else if (objective.objective == "logistic" || objective.objective == "least_squares") {
    problem->loss = objective.objective == "logistic" ? SampleProblem::Loss::logistic
                                                      : SampleProblem::Loss::least_squares;
    problem->widths = {features, 1};
  } else {
    return nullptr;
  }
  problem->shards = shards.hosted;
  if (problem->loss != SampleProblem::Loss::least_squares) problem->test = test;
  problem->l2 = objective.l2;
  problem->weight_by_sample = objective.weighting == "sample";
  return problem;
}

}  // namespace

std::span<const ObjectiveInfo> objective_table() {
  static const auto table = [] {
    std::array<ObjectiveInfo, entries<float>.size()> infos;
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = entries<float>[i].info;
    return infos;
  }();
  return table;
}

template <class T>
std::unique_ptr<Objective<T>> make_objective(const ObjectiveOptions& options, Shards<T> shards,
                                             Dataset<T> test, int classes) {
  const Entry<T>& entry = entry_of<T>(options.objective);
  check_weight("problem.l2", options.l2);
  check_weight("problem.l2r", options.l2r);
  const std::string init = options.init.empty() ? std::string(entry.info.init) : options.init;
  const SampleOptions sample_options{
      options.l2, word_of("problem.weighting", options.weighting, "agent", "sample") == "sample",
      word_of("problem.init", init, "torch", "zero") == "zero"};
  check_classes(entry.info, classes);
  if (shards.hosted.empty()) throw ConfigError("problem.data: there is no agent to give it to");

  const std::size_t features = shards.hosted.front().features();
  if (features == 0) throw ConfigError("problem.data has no features");
  for (std::size_t i = 0; i < shards.hosted.size(); ++i)
    check_labels(shards.hosted[i],
                 "agent " + std::to_string(static_cast<std::size_t>(shards.first) + i),
                 {features, shards.first}, entry.info, classes);
  if (entry.info.labels != Labels::targets)
    check_labels(test, "the test set", {features, shards.first}, entry.info, classes);

  Made<T> model = entry.make(options, {features, static_cast<std::size_t>(classes)});
  if (model->dimension() > most_parameters)
    throw ConfigError("problem.hidden makes " + std::to_string(model->dimension()) +
                      " parameters: at most " + std::to_string(most_parameters) + " are allowed");
  std::shared_ptr<const SampleProblem> problem;
  if constexpr (std::is_same_v<T, float>)
    if (options.for_device) problem = sample_problem(options, shards, test, classes);
  auto made = std::make_unique<SampleObjective<T>>(std::move(model), std::move(shards),
                                                   std::move(test), sample_options);
  made->set_sample_problem(std::move(problem));
  return made;
}

template std::unique_ptr<Objective<float>> make_objective(const ObjectiveOptions&, Shards<float>,
                                                          Dataset<float>, int);
template std::unique_ptr<Objective<double>> make_objective(const ObjectiveOptions&, Shards<double>,
                                                           Dataset<double>, int);

}  // namespace ticopd
