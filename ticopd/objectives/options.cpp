#include "ticopd/objectives/options.hpp"

#include "ticopd/kernels/activation.hpp"
#include "ticopd/objectives/registry.hpp"

namespace ticopd {
namespace {

std::vector<std::string_view> objective_names() {
  return objective_table().names();
}

// `mlp` and `softmax`: those that start as PyTorch does unless told otherwise.
std::string drawn_by_default() {
  std::string names;
  for (const ObjectiveInfo& info : objective_table())
    if (info.init == "torch") names += (names.empty() ? "`" : " and `") + info.name + "`";
  return names;
}

}  // namespace

// A new option is a member of ObjectiveOptions, a line here, and its name in `about` of each
// objective that takes it.
Table<Option<ObjectiveOptions>>& objective_options_table() {
  using O = ObjectiveOptions;
  static Table<Option<O>> table{
      "objective option",
      {option<&O::objective>("objective", domain::word(objective_names), "the loss f_i"),
       option<&O::hidden>("hidden", domain::layer_sizes(1, 1 << 20), "sizes of the hidden layers"),
       option<&O::activation>("activation", domain::word(words_of(Activation{})),
                              "between the layers"),
       option<&O::l2>("l2", domain::number(0),
                      "adds (l2/2) times the squared norm of x to every f_i"),
       option<&O::l2r>("l2r", domain::number(0), "weight of sum_k x_k^2 / (1 + x_k^2)"),
       option<&O::weighting>("weighting", domain::word({"agent", "sample"}),
                             "`agent`: f is the mean of the f_i; `sample`: agents weigh by their "
                             "samples, f is the mean over all samples"),
       option<&O::init>("init", domain::word({"torch", "zero"}),
                        "`torch`: uniform on +-1/sqrt(fan_in), one draw for all agents. Left out: "
                        "`torch` for " +
                            drawn_by_default() + ", else `zero`"),
       option<&O::name>("name", domain::text(), "what the program calls its objective")}};
  return table;
}

}  // namespace ticopd
