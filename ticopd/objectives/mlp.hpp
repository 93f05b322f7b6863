#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ticopd/objectives/activation.hpp"
#include "ticopd/objectives/blas.hpp"
#include "ticopd/objectives/cross_entropy.hpp"
#include "ticopd/objectives/model.hpp"

namespace ticopd {

// z_l = h_{l-1} W_l^T + b_l, h_l = phi(z_l), h_0 the features; cross-entropy of softmax(z_L).
// x = (W1, b1, W2, b2, ...), W_l out x in row-major, as PyTorch flattens a Sequential of Linear.
template <class T>
class Mlp : public Model<T> {
 public:
  Mlp(std::size_t features, const std::vector<std::size_t>& hidden, std::size_t classes,
      Activation phi)
      : phi_(phi), hidden_(hidden), classes_(classes) {
    std::size_t in = features;
    std::size_t offset = 0;
    const auto add = [&](std::size_t out) {
      layers_.push_back({in, out, offset, offset + out * in});
      offset += out * in + out;
      outputs_ += out;
      widest_ = std::max(widest_, out);
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
      parts.push_back({{"W" + number, {layer.out, layer.in}}, layer.in, l == 0});
      parts.push_back({{"b" + number, {layer.out}}, layer.in});
    }
    return parts;
  }

  std::unique_ptr<Model<T>> with_features(std::size_t count) const override {
    return std::make_unique<Mlp>(count, hidden_, classes_, phi_);
  }

  double tile(const T* features, std::span<const double> labels, std::span<const T> x, T* g,
              T scale) const override {
    const std::vector<T*> h = forward(features, labels.size(), x);
    const double loss = cross_entropy(h.back(), labels, classes_, scale);
    if (g != nullptr) backward(features, labels.size(), x, h, g);
    return loss;
  }

  std::size_t correct(const T* features, std::span<const double> labels,
                      std::span<const T> x) const override {
    return count_correct(forward(features, labels.size(), x).back(), labels, classes_);
  }

 private:
  struct Layer {
    std::size_t in, out;
    std::size_t weights, biases;  // where they start in x
  };

  // The outputs of every layer, the last without activation.
  std::vector<T*> forward(const T* features, std::size_t count, std::span<const T> x) const {
    struct Outputs;
    T* buffer = scratch<T, Outputs>(count * outputs_);
    std::vector<T*> h;
    const T* input = features;
    for (const Layer& layer : layers_) {
      const T* b = &x[layer.biases];
      for (std::size_t i = 0; i < count; ++i) std::copy_n(b, layer.out, buffer + i * layer.out);
      gemm(false, true, count, layer.out, layer.in, T(1), input, layer.in, &x[layer.weights],
           layer.in, T(1), buffer, layer.out);
      h.push_back(buffer);
      input = buffer;
      buffer += count * layer.out;
      if (h.size() < layers_.size()) activate(phi_, h.back(), count * layer.out);
    }
    return h;
  }

  // Adds the gradient to g; h.back() holds the deltas of the last layer.
  void backward(const T* features, std::size_t count, std::span<const T> x,
                const std::vector<T*>& h, T* g) const {
    struct Deltas;
    T* spare = scratch<T, Deltas>(2 * count * widest_);
    T* other = spare + count * widest_;
    const T* delta = h.back();
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const Layer& layer = layers_[l];
      const T* input = l > 0 ? h[l - 1] : features;
      gemm(true, false, layer.out, layer.in, count, T(1), delta, layer.out, input, layer.in, T(1),
           g + layer.weights, layer.in);
      add_rows(delta, count, layer.out, g + layer.biases);
      if (l == 0) break;
      gemm(false, false, count, layer.in, layer.out, T(1), delta, layer.out, &x[layer.weights],
           layer.in, T(0), spare, layer.in);
      times_derivative(phi_, input, spare, count * layer.in);
      delta = std::exchange(spare, std::exchange(other, spare));
    }
  }

  // g += the sum of the rows, which is taken first: g may be much larger than one of them.
  static void add_rows(const T* rows, std::size_t count, std::size_t width, T* g) {
    struct Sums;
    T* sum = scratch<T, Sums>(width);
    std::fill_n(sum, width, T(0));
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < width; ++j) sum[j] += rows[i * width + j];
    for (std::size_t j = 0; j < width; ++j) g[j] += sum[j];
  }

  Activation phi_;
  std::vector<std::size_t> hidden_;
  std::size_t classes_;
  std::vector<Layer> layers_;
  std::size_t outputs_ = 0;  // of all layers together
  std::size_t widest_ = 0;
};

}  // namespace ticopd
