#pragma once

#include "ticopd/objectives/mlp.hpp"

namespace ticopd {

// Multinomial logistic regression: cross-entropy of softmax(W a + b). A perceptron without hidden
// layers, so its arithmetic is the perceptron's.
template <class T>
class Softmax : public Mlp<T> {
 public:
  Softmax(std::size_t features, std::size_t classes)
      : Mlp<T>(features, {}, classes, Activation::sigmoid) {}
};

}  // namespace ticopd
