#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ticopd/kernels/layers.hpp"
#include "ticopd/objectives/model.hpp"
#include "ticopd/objectives/options.hpp"
#include "ticopd/objectives/sample_problem.hpp"

namespace ticopd {

// z_l = W_l h_{l-1} + b_l, h_l = phi(z_l), h_0 the features; cross-entropy of softmax(z_L).
// x = (W1, b1, W2, b2, ...), W_l out x in row-major, as PyTorch flattens a Sequential of Linear.
template <class T>
class Mlp : public Model<T> {
 public:
  static SampleProblem outline(const ObjectiveOptions& options, ProblemSizes sizes) {
    SampleProblem problem{.phi = activation_of(options.activation), .widths = {sizes.features}};
    problem.widths.insert(problem.widths.end(), options.hidden.begin(), options.hidden.end());
    problem.widths.push_back(sizes.classes);
    return problem;
  }
  static constexpr ObjectiveAbout about{.name = "mlp",
                                        .labels = Labels::classes,
                                        .init = "torch",
                                        .summary = "multilayer perceptron, softmax cross-entropy",
                                        .options = {"hidden", "activation"},
                                        .outline = outline};
  static std::unique_ptr<Model<T>> make(const ObjectiveOptions& options, ProblemSizes sizes) {
    return std::make_unique<Mlp>(
        sizes.features, std::vector<std::size_t>(options.hidden.begin(), options.hidden.end()),
        sizes.classes, activation_of(options.activation));
  }

  Mlp(std::size_t features, const std::vector<std::size_t>& hidden, std::size_t classes,
      Activation phi)
      : phi_(phi), classes_(classes) {
    std::size_t in = features;
    std::size_t offset = 0;  // into the parameters after W1
    const auto add = [&](std::size_t out) {
      const std::size_t weights = layers_.empty() ? 0 : out * in;
      layers_.push_back({in, out, offset, offset + weights});
      offset += weights + out;
      in = out;
    };
    for (const std::size_t width : hidden) add(width);
    add(classes);
  }

  std::vector<Part> parts() const override {
    std::vector<Part> parts;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      const std::string number = std::to_string(l + 1);
      parts.push_back({{"W" + number, {layer.out, layer.in}}, layer.in});
      parts.push_back({{"b" + number, {layer.out}}, layer.in});
    }
    return parts;
  }

  std::size_t outputs() const override { return layers_.front().out; }

  double losses(Lanes<T> z, std::span<const T> labels, std::span<const T> rest, T* g,
                T scale) const override {
    Lanes<T> lost{};
    const auto h = forward(z, rest, lost);
    const Layers<T>& math = layers<T>();
    const double loss =
        math.cross_entropy(biases(rest), classes_, labels.data(), scale, h.back(), lost);
    if (g == nullptr) return loss;
    // h[l] holds the deltas of z_l when its turn comes: `back` overwrites the outputs of the layer
    // before.
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const Layer& layer = layers_[l];
      math.row_sums(h[l], layer.out, g + layer.biases);
      if (l == 0) break;
      math.outer(h[l], layer.out, h[l - 1], layer.in, g + layer.weights);
      math.back(phi_, &rest[layer.weights], layer.out, layer.in, h[l], h[l - 1]);
    }
    return loss;
  }

  std::size_t correct(Lanes<T> z, std::span<const T> labels,
                      std::span<const T> rest) const override {
    Lanes<T> lost{};
    return count_correct<T>(biases(rest), classes_, labels.data(), forward(z, rest, lost).back());
  }

 private:
  struct Layer {
    std::size_t in, out;
    std::size_t weights, biases;  // where they start after W1
  };

  const T* biases(std::span<const T> rest) const { return &rest[layers_.back().biases]; }

  // The outputs of every layer: h_l, and for the last layer z_L without its bias, which the loss
  // adds. `lost` is the rounding error of z_L; null without a hidden layer.
  std::vector<Lanes<T>> forward(Lanes<T> z, std::span<const T> rest, Lanes<T>& lost) const {
    struct Outputs;
    const Layers<T>& math = layers<T>();
    std::size_t units = 0, widest = 0;
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      units += layers_[l].out;
      widest = std::max(widest, layers_[l].out);
    }
    T* room = scratch<T, Outputs>((units + widest) * z.stride);
    if (layers_.size() > 1) lost = {room + units * z.stride, z.stride, z.count};
    std::vector<Lanes<T>> h{z};
    for (std::size_t l = 1; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      math.activate(phi_, &rest[layers_[l - 1].biases], layer.in, h.back());
      const Lanes<T> next{room, z.stride, z.count};
      math.multiply(&rest[layer.weights], layer.out, layer.in, h.back(), next, lost);
      h.push_back(next);
      room += layer.out * z.stride;
    }
    return h;
  }

  Activation phi_;
  std::size_t classes_;
  std::vector<Layer> layers_;
};

}  // namespace ticopd
