#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/option.hpp"

namespace ticopd {

// The part of the [problem] table that says what f is, with its defaults; the rest of it says where
// the samples come from. objectives/options.cpp says what each option means.
struct ObjectiveOptions {
  std::string objective = "mlp";
  std::vector<int> hidden{100};
  std::string activation = "sigmoid";
  double l2 = 0.0;
  double l2r = 0.1;
  std::string weighting = "agent";
  std::string init = "";  // "" is the objective's own default
  std::string name = "";  // of an external objective
  OwnOptions own = {};    // options that a program registered (registry.hpp)
};

// The kind of labels that an objective needs.
enum class Labels { classes, two_classes, targets };

// The sizes of the problem that an objective is made for.
struct ProblemSizes {
  std::size_t features;
  std::size_t classes;  // 0: labels are targets of a regression
};

// The loss and the widths of an objective as data (sample_problem.hpp). Whoever calls it adds what
// all objectives have: the samples, l2 and the weights.
struct SampleProblem;
using DeviceOutline = SampleProblem (*)(const ObjectiveOptions&, ProblemSizes);

// What an objective's class says of itself, as `static constexpr ObjectiveAbout about`.
struct ObjectiveAbout {
  std::string_view name;  // the word of problem.objective
  Labels labels;
  std::string_view init;  // the default of problem.init
  std::string_view summary;
  std::array<std::string_view, 4> options = {};  // those it takes, besides those that all take
  DeviceOutline outline = nullptr;               // null: devices have no kernels for it
};

}  // namespace ticopd
