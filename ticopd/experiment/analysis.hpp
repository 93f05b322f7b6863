#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"
#include "ticopd/theory/contraction.hpp"
#include "ticopd/theory/theorem.hpp"

namespace ticopd {

struct AnalysisOptions {
  PrepareOptions prepare = {};
  double a = 1;                // the theorem's free quantity
  std::uint32_t rounds = 50;   // of the configured run, at most, to measure on
  int draws = 4;               // of each of its messages
  std::size_t samples = 1000;  // of each shard, for Hessians; 0: all
  double epsilon = 1e-3;       // rounds until the averaged squared gradient is below it
  std::function<void(const std::string& doing)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// What a config is beside Theorem 1: `ticopd theory`.
struct Analysis {
  std::string name, graph, codec, algorithm;
  int agents = 0;
  std::size_t dimension = 0;
  double rho_1 = 0, rho_2 = 0;

  std::string beyond;  // what of this network the theorem does not speak of

  double gain = 1;  // gamma of TiCoPD: the compressor is gain Q
  ErrorBound bound;
  std::optional<double> delta_bound;
  MeasuredContraction measured;
  std::uint32_t rounds = 0;  // that were run for it
  std::string diverged;      // why they ended early

  struct Curvature {
    std::uint32_t round;
    double L;     // the largest |eigenvalue| of any f_i's Hessian, each where its agent is
    double of_f;  // of f's, at the mean model
  };
  std::vector<Curvature> curvatures;
  double L = 0, L_of_f = 0;  // the largest of them
  std::size_t samples_used = 0, samples = 0;
  double f_start = 0;  // f(x^0)

  struct Steps {
    double alpha, theta, eta, beta, gamma;  // at round 1
    bool constant;
  };
  std::optional<Steps> steps;  // of TiCoPD

  // The theorem with one delta. alpha_ub is for theta, the larger of the configured one and the
  // bound.
  struct Bounds {
    std::string of;  // "bound" or "measured": where its delta comes from
    Theorem theorem;
    double theta, alpha_ub, alpha_ub_at_bound;
    std::optional<double> F_0, rounds;
    double theta_factor, alpha_factor;  // theta_lb / configured, configured / alpha_ub
  };
  std::vector<Bounds> bounds;
  std::string why_not;  // the theorem says nothing with the codec's own bound

  // What stability asks of the step sizes in practice.
  struct Limit {
    std::string what, why;
    double value, bound;
    bool holds;
  };
  std::vector<Limit> limits;

  double a = 1, epsilon = 1e-3;
};

// Loads the problem, runs a few rounds of it, and takes everything from there. Throws what
// `prepare` does, and Interrupted where `stop` was set.
Analysis analyse(const Config& config, const AnalysisOptions& options);

nlohmann::json to_json(const Analysis& analysis);

// What log.lyapunov evaluates: F_t with a = 1, f_star = 0, delta as the codec promises it and L as
// estimated at the start. ConfigError where there is no F_t of this config.
template <class T>
std::function<double(AnyNetwork<T>&, AnyRun<T>&)> configured_lyapunov(const Config& config,
                                                                      const Prepared<T>& prepared,
                                                                      int ranks);

extern template std::function<double(AnyNetwork<float>&, AnyRun<float>&)> configured_lyapunov(
    const Config&, const Prepared<float>&, int);
extern template std::function<double(AnyNetwork<double>&, AnyRun<double>&)> configured_lyapunov(
    const Config&, const Prepared<double>&, int);

}  // namespace ticopd
