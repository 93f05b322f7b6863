#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/general_problem.hpp"

// Problems of every kind, and their results on the CPU in double.
namespace ticopd::cuda {

struct Case {
  std::string name;
  Made made;
};

inline std::vector<Case> cases() {
  const auto made = [](const std::string& objective, std::vector<int> hidden,
                       const std::string& activation = "sigmoid") {
    Made one;
    one.options.objective = objective;
    one.options.hidden = std::move(hidden);
    one.options.activation = activation;
    if (objective == "logistic") one.classes = 2;
    return one;
  };
  std::vector<Case> all{{"softmax", made("softmax", {})},
                        {"mlp_without_hidden", made("mlp", {})},
                        {"mlp_20_sigmoid", made("mlp", {20})},
                        {"mlp_20_tanh", made("mlp", {20}, "tanh")},
                        {"mlp_20_relu", made("mlp", {20}, "relu")},
                        {"mlp_12_9_sigmoid", made("mlp", {12, 9})},
                        {"mlp_12_9_tanh", made("mlp", {12, 9}, "tanh")},
                        {"mlp_70_130_33_relu", made("mlp", {70, 130, 33}, "relu")},
                        {"logistic", made("logistic", {})},
                        {"least_squares", made("least_squares", {})}};
  all[5].made.shards = {40, 61, 70, 64, 33, 64};  // sizes close enough for one group
  // Logits are computed in tiles of 16 classes: these cases need one to seven tiles.
  for (const std::size_t classes : {11, 17, 40, 100}) {
    all.push_back({"mlp_20_of_" + std::to_string(classes) + "_classes", made("mlp", {20})});
    all.back().made.classes = classes;
  }
  all.push_back({"mlp_101_of_896_features", made("mlp", {101})});  // just too large to be fused
  all.back().made.features = 896;
  const std::size_t plain = all.size();
  for (std::size_t i = 0; i < plain; ++i) {
    Case floats = all[i];
    floats.name += "_of_floats";
    floats.made.u8 = false;
    all.push_back(floats);
    Case weighted = all[i];
    weighted.name += "_l2_by_sample";
    weighted.made.options.l2 = 0.03;
    weighted.made.options.weighting = "sample";
    all.push_back(weighted);
  }
  return all;
}

inline std::vector<Case> cases_with_classes() {
  std::vector<Case> all = cases();
  std::erase_if(all, [](const Case& one) {
    return one.made.options.objective == "logistic" ||
           one.made.options.objective == "least_squares";
  });
  return all;
}

inline void expect_cpu(const Made& made, const Device::Table& x, const Device::Result& result) {
  const auto truth = made_objective<double>(made);
  for (std::size_t i = 0; i < made.shards.size(); ++i) {
    std::vector<double> g(truth->dimension());
    truth->gradient(static_cast<int>(i), exactly(x[i]), g);
    EXPECT_LT(made_up::relative_distance(result.gradients[i], g), made.u8 ? 1e-6 : 2e-6)
        << "agent " << i;
    const double value = truth->value(static_cast<int>(i), exactly(x[i]));
    EXPECT_NEAR(result.values[i], value, (made.u8 ? 1e-6 : 5e-6) * (std::fabs(value) + 1e-3))
        << "agent " << i;
  }
}

// Compares with gradients over the mini-batches that the CPU network draws in that round.
inline void expect_cpus_batch(const Made& made, Device& device, const Device::Table& x,
                              std::uint32_t round, std::size_t batch) {
  constexpr std::uint64_t seed = 0x123456789abcdefull;
  const auto truth = made_objective<double>(made);
  const Device::Table g = device.batch_gradient(x, round, seed, batch);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Permutation draw(made.shards[i],
                           {seed, round, static_cast<std::uint32_t>(i), stream_batch});
    Batch drawn{.full = batch >= made.shards[i], .samples = {}};
    for (std::size_t b = 0; b < batch && !drawn.full; ++b)
      drawn.samples.push_back(static_cast<std::uint32_t>(draw(b)));
    std::vector<double> of_cpu(x[i].size());
    truth->evaluate(static_cast<int>(i), 0, drawn, exactly(x[i]), of_cpu);
    EXPECT_LT(made_up::relative_distance(g[i], of_cpu), made.u8 ? 1e-6 : 2e-6)
        << "agent " << i << ", batch " << batch << ", round " << round;
  }
}

// Per row, the number of test samples that it classifies correctly.
inline std::vector<std::uint32_t> right_on_cpu(const Made& made, const Device::Table& x) {
  const auto truth = made_objective<double>(made);
  std::vector<std::uint32_t> right;
  for (const std::vector<float>& row : x) {
    right.push_back(0);
    for (std::size_t b = 0; b < truth->test_blocks(); ++b)
      right.back() += static_cast<std::uint32_t>(truth->correct(b, exactly(row)));
  }
  return right;
}

}  // namespace ticopd::cuda
