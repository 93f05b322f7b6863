#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "bench/rounds.hpp"

namespace ticopd::bench {

inline void fill(std::span<float> values, std::uint32_t agent, float size) {
  Generator draw(Noise{1, 0, agent, stream_synthetic});
  for (float& v : values) v = size * (Noise::to_uniform(draw.bits()) - 0.5f);
}

// f_i = g_i . x. The gradient is already in place, so evaluating it costs nothing. The models drift
// forever, so every round has something to send.
class Drift final : public Objective<float> {
 public:
  Drift(int agents, std::size_t dimension) : agents_(agents), dimension_(dimension) {}

  int agents() const override { return agents_; }
  std::size_t dimension() const override { return dimension_; }
  double value(int, std::span<const float>) const override { return 0.0; }
  void gradient(int, std::span<const float>, std::span<float>) const override {}
  void start(std::uint64_t, std::span<float> x) const override { fill(x, 1000, 1.0f); }

 private:
  int agents_;
  std::size_t dimension_;
};

// Rounds whose gradients cost nothing: only exchange and update remain.
inline std::unique_ptr<Rounds<float>> make_rounds(const Drift& drift, Pool& pool,
                                                  Transport* transport = nullptr) {
  const TiCoPD params{.alpha = 0.1, .theta = 0.1, .eta = 0.01, .beta = 0.96};
  auto rounds = std::make_unique<Rounds<float>>(drift, params, pool, transport);
  for (std::size_t i = 0; i < rounds->gradient().rows(); ++i)
    fill(rounds->gradient().row(i), static_cast<std::uint32_t>(rounds->net().placement().agent(i)),
         0.01f);
  return rounds;
}

}  // namespace ticopd::bench
