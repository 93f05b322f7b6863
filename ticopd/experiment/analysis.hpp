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
  double a = 1;                // the theorem's free parameter
  std::uint32_t rounds = 50;   // at most this many rounds of the run are made for measuring
  int draws = 4;               // encodings per message, each with its own noise
  std::size_t samples = 1000;  // per shard, for Hessians; 0: all
  double epsilon = 1e-3;       // target of the averaged squared gradient norm
  std::function<void(const std::string& doing)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// A config's step sizes and codec compared with Theorem 1: the result of `ticopd theory`.
struct Analysis {
  std::string name, graph, codec, algorithm;
  int agents = 0;
  std::size_t dimension = 0;
  double rho_1 = 0, rho_2 = 0;

  std::string beyond;  // why the theorem does not cover this network; empty if it does

  double gain = 1;  // gamma of TiCoPD: the compressor is gain Q
  ErrorBound bound;
  std::optional<double> delta_bound;
  MeasuredContraction measured;
  std::uint32_t rounds = 0;  // made for measuring
  std::string diverged;      // why these rounds ended early

  struct Curvature {
    std::uint32_t round;
    double L;     // the largest |eigenvalue| of any f_i's Hessian, each at its agent's model
    double of_f;  // the same of f's Hessian, at the mean model
  };
  std::vector<Curvature> curvatures;
  double L = 0, L_of_f = 0;  // the largest of `curvatures`
  std::size_t samples_used = 0, samples = 0;
  double f_start = 0;  // f(x^0)

  struct Steps {
    double alpha, theta, eta, beta, gamma;  // at round 1
    bool constant;
  };
  std::optional<Steps> steps;  // only for TiCoPD

  // The theorem's bounds for one delta. alpha_ub belongs to `theta`, the larger of the configured
  // theta and theta_lb.
  struct Bounds {
    std::string of;  // "bound" or "measured": the origin of delta
    Theorem theorem;
    double theta, alpha_ub, alpha_ub_at_bound;
    std::optional<double> F_0, rounds;
    double theta_factor, alpha_factor;  // theta_lb / configured, configured / alpha_ub
  };
  std::vector<Bounds> bounds;
  std::string why_not;  // why the codec's own bound gives no theorem; empty if it does

  // A condition on the step sizes for stability in practice.
  struct Limit {
    std::string what, why;
    double value, bound;
    bool holds;
  };
  std::vector<Limit> limits;

  double a = 1, epsilon = 1e-3;
};

// Loads the problem, runs a few rounds of it and measures. Throws what `prepare` throws, and
// Interrupted if `stop` is set.
Analysis analyse(const Config& config, const AnalysisOptions& options);

nlohmann::json to_json(const Analysis& analysis);

// The function that log.lyapunov evaluates: F_t with a = 1, f_star = 0, the codec's guaranteed
// delta, and L as estimated at the start. ConfigError if F_t is not defined for this config.
template <class T>
std::function<double(AnyNetwork<T>&, AnyRun<T>&)> configured_lyapunov(const Config& config,
                                                                      const Prepared<T>& prepared,
                                                                      int ranks);

extern template std::function<double(AnyNetwork<float>&, AnyRun<float>&)> configured_lyapunov(
    const Config&, const Prepared<float>&, int);
extern template std::function<double(AnyNetwork<double>&, AnyRun<double>&)> configured_lyapunov(
    const Config&, const Prepared<double>&, int);

}  // namespace ticopd
