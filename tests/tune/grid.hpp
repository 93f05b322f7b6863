#pragma once

// What tuning is for: at the cost of at most 40 full runs, step sizes whose f(xbar) - f* after the
// same rounds is within 10 % of the best of an exhaustive 12 x 12 grid.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/experiment/prepare.hpp"
#include "tune/small_search.hpp"

namespace ticopd {

inline constexpr int points = 12;

struct GridProblem {
  std::string name, keys;
};

inline const GridProblem least_squares{"least squares", "objective = \"least_squares\"\n"};
inline const GridProblem logistic{"logistic", "objective = \"logistic\"\nclasses = 2\nl2 = 0.01\n"};

struct GridAxis {
  std::string name;
  double low, high;
};

class Grid : public SmallSearch {
 protected:
  static std::string text(const GridProblem& p, const std::string& algorithm, int rounds,
                          int agents) {
    return "precision = \"double\"\niterations = " + std::to_string(rounds) + "\n[problem]\n" +
           p.keys + "data = \"synthetic\"\nsamples = 500\nfeatures = 20\npartition = \"sorted\"\n" +
           "[graph]\nagents = " + std::to_string(agents) + "\n" + algorithm;
  }

  static double final_loss(const Prepared<double>& prepared, const Config& c) {
    Warnings ignored;
    auto setup = prepared.setup;
    setup.watch.only_last = true;
    try {
      const auto algorithm = configured_algorithm<double>(c, prepared.spectrum, ignored);
      return solve(algorithm, setup).last.loss_mean.value();
    } catch (const Error&) {  // diverged, or refused
      return INFINITY;
    }
  }

  // Gradient descent on all samples in one place: the shards have equal sizes, so f is the same.
  static double lowest(const GridProblem& p) {
    const Config c =
        Config::parse(text(p, "[algorithm]\nname = \"dgd\"\neta = 0.3\n", 4000, 1), ".");
    const Prepared<double> prepared = prepare<double>(c, {.threads = 1});
    const Solution<double> found = solve(prepared.algorithm, prepared.setup);
    EXPECT_LT(found.last.grad_norm2_mean.value(), 1e-20) << "this is not f*";
    return found.last.loss_mean.value();
  }

  // The best of the grid, with the other step sizes as `algorithm` has them.
  static double best_of_grid(const std::string& config, const GridAxis& a, const GridAxis& b) {
    nlohmann::json tree = Config::parse(config, ".").tree();
    const auto at = [](const GridAxis& axis, int i) {
      return axis.low * std::pow(axis.high / axis.low, i / (points - 1.0));
    };
    tree["algorithm"][a.name] = a.low;
    tree["algorithm"][b.name] = b.low;
    const Prepared<double> prepared = prepare<double>(Config::from_json(tree, "."), {.threads = 1});
    double best = INFINITY;
    for (int i = 0; i < points; ++i)
      for (int k = 0; k < points; ++k) {
        tree["algorithm"][a.name] = at(a, i);
        tree["algorithm"][b.name] = at(b, k);
        best = std::min(best, final_loss(prepared, Config::from_json(tree, ".")));
      }
    return best;
  }

  void expect_as_good(const GridProblem& p, const std::string& algorithm, const std::string& search,
                      const GridAxis& a, const GridAxis& b, int rounds) {
    const std::string codec = "[codec]\nkind = \"qsgd\"\n[algorithm]\nname = \"";
    const double f_star = lowest(p);
    const double best = best_of_grid(text(p, codec + algorithm, rounds, 10), a, b) - f_star;
    ASSERT_GT(best, 0);
    const std::string name = algorithm.substr(0, algorithm.find('"'));
    for (const int seed : {1, 2}) {
      TuneOptions options = into(p.name + name + std::to_string(seed), 40);
      options.metric = "loss_mean";
      const Config c = Config::parse(text(p, codec + name + "\"\n" + search, rounds, 10), ".",
                                     Set{"tune.seed=" + std::to_string(seed)});
      const Tuned t = tune(c, options);
      EXPECT_LE(t.cost, 40);
      EXPECT_LE(t.value - f_star, 1.1 * best + 1e-13) << p.name << ", seed " << seed;
    }
  }

  void expect_as_good_over_eta_and_gamma(const GridProblem& p, const std::string& algorithm) {
    expect_as_good(p, algorithm + "\"\n", "[tune.search]\neta = [1e-4, 10]\ngamma = [0.03, 1]\n",
                   {"eta", 1e-4, 10}, {"gamma", 0.03, 1}, 200);
  }
};

}  // namespace ticopd
