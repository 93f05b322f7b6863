#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/run/digest.hpp"

namespace ticopd::bench {

// Makes the pool in the same way as solve().
inline std::unique_ptr<Pool> make_pool(int threads) {
  return std::make_unique<Pool>(threads, may_pin(threads));
}

// Rounds of TiCoPD with 8-bit messages on a ring, without metrics, as solve() runs them between two
// logged rounds.
template <class T>
class Rounds {
 public:
  // The arguments must outlive this object. Without a transport this process hosts all agents.
  Rounds(const Objective<T>& objective, const TiCoPD& params, Pool& pool,
         Transport* transport = nullptr)
      : graph_(ring(objective.agents())),
        net_({.graph = graph_,
              .objective = objective,
              .codec = *codec_,
              .transport = transport != nullptr ? *transport : alone_,
              .pool = pool}),
        run_(params, net_) {}

  void step() {
    net_.begin_round(net_.round() + 1);
    run_.step();
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }

  CpuNetwork<T>& net() { return net_; }
  const Field<T>& x() const { return run_.x; }
  Field<T>& gradient() { return run_.grad; }

  // The digest of all state after a round.
  std::string digest() {
    Digest digest;
    digest.add(net_, run_.x);
    digest.add(net_, run_.lambda);
    digest.add(net_, run_.xhat.own());
    return digest.hex();
  }
  bool finite() const {
    double sum = 0;
    for (const Field<T>* field : {&run_.x, &run_.lambda, &run_.xhat.own()})
      for (std::size_t k = 0; k < field->size(); ++k)
        sum += std::abs(static_cast<double>(field->data()[k]));
    return std::isfinite(sum) && sum > 0;
  }

 private:
  Graph graph_;
  std::unique_ptr<Codec<T>> codec_ = make_codec<T>({.kind = "qsgd", .bits = 8});
  Alone alone_;
  CpuNetwork<T> net_;
  TiCoPD::Run<CpuNetwork<T>> run_;
};

}  // namespace ticopd::bench
