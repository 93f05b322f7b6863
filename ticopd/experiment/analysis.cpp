#include "ticopd/experiment/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/experiment/stability_limits.hpp"
#include "ticopd/theory/lyapunov.hpp"
#include "ticopd/theory/smoothness.hpp"

namespace ticopd {
namespace {

// The config without log.lyapunov. The analysis estimates L itself, and it must report a codec that
// does not contract, while log.lyapunov would refuse it.
Config without_lyapunov(const Config& config) {
  nlohmann::json tree = config.tree();
  tree["log"]["lyapunov"] = false;
  return Config::from_json(tree, config.folder());
}

// Makes an Analysis: graph and codec, then a short run to measure, then the theorem and the limits.
template <class T>
class Analysing {
 public:
  Analysing(const Config& config, const AnalysisOptions& options)
      : config_(config),
        options_(options),
        prepared_(prepare<T>(without_lyapunov(config), options.prepare)),
        pool_(prepared_.setup.execution.threads * prepared_.setup.execution.ranks),
        smoothness_(*prepared_.setup.objective, pool_,
                    {.samples = options.samples, .on_agent = {}}) {}

  Analysis operator()() {
    name();
    codec();
    start();
    short_run();
    s_.samples_used = smoothness_.samples_used();
    s_.samples = smoothness_.samples();
    if (s_.steps) {
      theorem();
      s_.limits = stability_limits(s_);
    }
    return std::move(s_);
  }

 private:
  const Setup<T>& setup() const { return prepared_.setup; }

  void doing(const std::string& what) const {
    if (options_.stop && options_.stop->load()) throw Interrupted("stopped");
    if (options_.progress) options_.progress(what);
  }

  void name() {
    s_.name = config_.get<std::string>("name");
    s_.graph = config_.get<std::string>("graph.kind");
    s_.algorithm = config_.get<std::string>("algorithm.name");
    s_.agents = setup().graph.agents();
    s_.dimension = setup().objective->dimension();
    s_.rho_1 = prepared_.spectrum.laplacian_max;
    s_.rho_2 = prepared_.spectrum.laplacian_min;
    s_.a = options_.a;
    s_.epsilon = options_.epsilon;
    s_.beyond = beyond_theorem(setup().links, setup().channel_noise, setup().batch);
    if (s_.algorithm == "ticopd") s_.steps = configured_steps(config_, s_.rho_1);
    if (s_.steps) s_.gain = s_.steps->gamma;
  }

  void codec() {
    const auto needs = algorithm_needs(configured_options(config_));
    s_.codec = needs.codec ? needs.codec->kind : config_.get<std::string>("codec.kind");
    s_.bound = setup().codec->error_bound(s_.dimension);
    s_.delta_bound = contraction_of(s_.bound, s_.gain);
  }

  void curvature(const std::string& where, std::uint32_t round, const Field<T>& x) {
    doing("Hessians at " + where);
    const double L = smoothness_.at(x);
    std::vector<T> mean(x.cols());
    for (std::size_t k = 0; k < mean.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < x.rows(); ++i) sum += static_cast<double>(x.row(i)[k]);
      mean[k] = static_cast<T>(sum / s_.agents);
    }
    const double of_f = smoothness_.of_mean(mean);
    if (!std::isfinite(L) || !std::isfinite(of_f)) return;
    s_.curvatures.push_back({round, L, of_f});
    s_.L = std::max(s_.L, L);
    s_.L_of_f = std::max(s_.L_of_f, of_f);
  }

  void start() {
    x0_.resize(s_.dimension);
    setup().objective->start(setup().seed_of_problem(), x0_);
    std::vector<double> values(static_cast<std::size_t>(s_.agents));
    pool_.run(values.size(), [&](std::size_t i) {
      values[i] = setup().objective->value(static_cast<int>(i), x0_);
    });
    for (const double v : values) s_.f_start += v / s_.agents;
  }

  CpuNetwork<T> network(const Codec<T>& codec) {
    return CpuNetwork<T>({.graph = setup().graph,
                          .objective = *setup().objective,
                          .codec = codec,
                          .transport = alone_,
                          .pool = pool_,
                          .weights = setup().weights,
                          .seed = setup().seed,
                          .batch = setup().batch,
                          .links = setup().links,
                          .channel_noise = setup().channel_noise});
  }

  // Runs the first rounds as configured. Measures the codec on their messages, and the Hessians at
  // the agents' models at the start, half-way and at the end.
  void short_run() {
    const MeasuringCodec<T> codec(setup().codec, s_.agents, s_.gain, options_.draws);
    CpuNetwork<T> net = network(codec);
    const auto run = prepared_.algorithm(net);
    curvature("the start", 0, run->x());
    const std::uint32_t last = std::min(options_.rounds, setup().iterations);
    try {
      for (std::uint32_t round = 1; round <= last; ++round) {
        doing(fmt::format("round {} of {}", round, last));
        net.begin_round(round);
        run->step();
        s_.rounds = round;
        if (round == last / 2 || round == last)
          curvature(fmt::format("round {}", round), round, run->x());
      }
    } catch (const Diverged& e) {
      s_.diverged = e.what();
    }
    run->complete();
    s_.measured = codec.measured();
  }

  void theorem() {
    s_.why_not = why_no_theorem(s_);
    if (s_.agents < 2 || !s_.beyond.empty()) return;
    if (s_.delta_bound) add_bounds("bound", *s_.delta_bound);
    const double measured = s_.measured.messages > 0 ? s_.measured.delta() : 0;
    if (measured > 0 && measured <= 1) add_bounds("measured", measured);
  }

  void add_bounds(const std::string& of, double delta) {
    const Analysis::Steps& p = *s_.steps;
    const Theorem theorem({s_.agents, s_.rho_1, s_.rho_2, delta, s_.L, p.eta, s_.a});
    const double theta = std::max(p.theta, theorem.theta_lb()), alpha = theorem.alpha_ub(theta);
    Analysis::Bounds b{.of = of,
                       .theorem = theorem,
                       .theta = theta,
                       .alpha_ub = alpha,
                       .alpha_ub_at_bound = theorem.alpha_ub(theorem.theta_lb()),
                       .F_0 = {},
                       .rounds = {},
                       .theta_factor = theorem.theta_lb() / p.theta,
                       .alpha_factor = p.alpha / alpha};
    if (s_.agents <= Lyapunov::most_agents) {
      CpuNetwork<T> net = network(*setup().codec);
      const auto run = prepared_.algorithm(net);
      b.F_0 = Lyapunov(setup().graph, theorem, alpha, theta).of(net, *run, s_.gain);
      b.rounds = Theorem::rounds(*b.F_0, alpha, s_.epsilon);
    }
    s_.bounds.push_back(std::move(b));
  }

  const Config& config_;
  const AnalysisOptions& options_;
  Prepared<T> prepared_;
  Pool pool_;
  Alone alone_;
  Smoothness<T> smoothness_;
  std::vector<T> x0_;
  Analysis s_;
};

}  // namespace

Analysis analyse(const Config& config, const AnalysisOptions& options) {
  if (config.get<std::string>("precision") == "double") return Analysing<double>(config, options)();
  return Analysing<float>(config, options)();
}

template <class T>
std::function<double(AnyNetwork<T>&, AnyRun<T>&)> configured_lyapunov(const Config& config,
                                                                      const Prepared<T>& prepared,
                                                                      int ranks) {
  const auto refuse = [](const std::string& why) {
    throw ConfigError("log.lyapunov = true: " + why);
  };
  const Setup<T>& setup = prepared.setup;
  const int agents = setup.graph.agents();
  if (ranks > 1 || setup.execution.ranks > 1)
    refuse(
        "F_t couples all agents: it needs them in one process, with network.transport = \"none\"");
  if (agents < 2 || agents > Lyapunov::most_agents)
    refuse(fmt::format("graph.agents = {}: allowed are 2 to {}", agents, Lyapunov::most_agents));
  if (const std::string why = beyond_theorem(setup.links, setup.channel_noise, setup.batch);
      !why.empty())
    refuse(why);
  const double lambda_max = prepared.spectrum.laplacian_max;
  const Analysis::Steps p = configured_steps(config, lambda_max);
  if (!p.constant) refuse("F_t needs constant step sizes, but these are schedules");
  const std::optional<double> delta =
      contraction_of(setup.codec->error_bound(setup.objective->dimension()), p.gamma);
  if (!delta)
    refuse(
        fmt::format("codec.kind = \"{}\" with algorithm.gamma = {} does not contract, so "
                    "there is no delta; `ticopd theory` says which gamma would do",
                    config.get<std::string>("codec.kind"), p.gamma));
  Pool pool(setup.execution.threads);
  Smoothness<T> smoothness(*setup.objective, pool,
                           {.samples = AnalysisOptions{}.samples, .on_agent = {}});
  std::vector<T> x0(setup.objective->dimension());
  setup.objective->start(setup.seed_of_problem(), x0);
  const double L = smoothness.at(std::span<const T>(x0));
  const Theorem theorem(
      {agents, lambda_max, prepared.spectrum.laplacian_min, *delta, L, p.eta, 1.0});
  return [F = Lyapunov(setup.graph, theorem, p.alpha, p.theta), gamma = p.gamma](
             AnyNetwork<T>& net, AnyRun<T>& run) { return F.of(net, run, gamma); };
}

template std::function<double(AnyNetwork<float>&, AnyRun<float>&)> configured_lyapunov(
    const Config&, const Prepared<float>&, int);
template std::function<double(AnyNetwork<double>&, AnyRun<double>&)> configured_lyapunov(
    const Config&, const Prepared<double>&, int);

}  // namespace ticopd
