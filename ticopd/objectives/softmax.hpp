#pragma once

#include "ticopd/objectives/mlp.hpp"

namespace ticopd {

// Multinomial logistic regression: cross-entropy of softmax(W a + b). A perceptron without hidden
// layers, so its arithmetic is the perceptron's.
template <class T>
class Softmax : public Mlp<T> {
 public:
  static SampleProblem outline(const ObjectiveOptions&, ProblemSizes sizes) {
    return {.widths = {sizes.features, sizes.classes}};
  }
  static constexpr ObjectiveAbout about{.name = "softmax",
                                        .labels = Labels::classes,
                                        .init = "torch",
                                        .summary = "multinomial logistic regression, with biases",
                                        .outline = outline};
  static std::unique_ptr<Model<T>> make(const ObjectiveOptions&, ProblemSizes sizes) {
    return std::make_unique<Softmax>(sizes.features, sizes.classes);
  }

  Softmax(std::size_t features, std::size_t classes)
      : Mlp<T>(features, {}, classes, Activation::sigmoid) {}
};

}  // namespace ticopd
