// Times rounds of TiCoPD with few and with many agents, on request (see ask.hpp). Each agent holds
// the same number of samples; least squares, a ring, 8-bit messages, no metrics.
//
//   bench_agents --agents N... [--dimension D] [--samples M] [--threads K]
//
// Each N is an action: one round of the network of N agents.
#include <CLI/CLI.hpp>
#include <numeric>

#include "bench/ask.hpp"
#include "bench/rounds.hpp"
#include "ticopd/data/synthetic.hpp"
#include "ticopd/objectives/registry.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;

// ||A_i^T A_i|| / m is about d / m (1 + sqrt(m / d))^2; the step size must stay below its inverse.
TiCoPD step_sizes(std::size_t d, std::size_t samples) {
  const double alpha = 0.3 * static_cast<double>(samples) / static_cast<double>(d);
  return {.alpha = alpha, .theta = 0.1 / alpha, .eta = 0.01 / alpha, .beta = 0.6};
}

std::unique_ptr<Objective<float>> make_problem(const Dataset<float>& all, int agents,
                                               std::size_t samples) {
  std::vector<Dataset<float>> shards;
  std::vector<std::uint32_t> mine(samples);
  for (int i = 0; i < agents; ++i) {
    std::iota(mine.begin(), mine.end(),
              static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(samples));
    shards.push_back(all.select(mine));
  }
  ObjectiveOptions options;
  options.objective = "least_squares";
  return make_objective<float>(options, std::move(shards), {}, 0);
}

// The mean over agents of f_i at their own models.
double mean_loss(const Objective<float>& objective, const Field<float>& x) {
  double sum = 0;
  for (int i = 0; i < objective.agents(); ++i)
    sum += objective.value(i, x.row(static_cast<std::size_t>(i)));
  return sum / objective.agents();
}

void run(const std::vector<int>& sizes, std::size_t d, std::size_t samples, int threads) {
  struct Network {
    std::unique_ptr<Objective<float>> objective;
    std::unique_ptr<Rounds<float>> rounds;
    double first_loss;
  };
  const int most = *std::max_element(sizes.begin(), sizes.end());
  const TrainTest<float> data =
      synthetic_regression<float>(static_cast<std::size_t>(most) * samples, d, 1);
  const TiCoPD params = step_sizes(d, samples);
  std::map<std::string, Network> networks;
  const auto pool = make_pool(threads);
  Actions actions;
  for (const int agents : sizes) {
    Network& network = networks[std::to_string(agents)];
    network.objective = make_problem(data.train, agents, samples);
    const auto rounds_with = [&](Pool& some) {
      auto rounds = std::make_unique<Rounds<float>>(*network.objective, params, some);
      network.first_loss = mean_loss(*network.objective, rounds->x());
      rounds->steps(3);
      return rounds;
    };
    Pool others(threads == 1 ? 2 : 1);
    const std::string other = rounds_with(others)->digest();
    network.rounds = rounds_with(*pool);
    require(network.rounds->digest() == other,
            "rounds have other bits with another number of threads");
    actions[std::to_string(agents)] = [&network] { network.rounds->step(); };
  }
  say({{"dimension", d}, {"samples", samples}});
  answer(actions);
  for (const auto& [agents, network] : networks) {
    require(network.rounds->finite(), "the state of " + agents + " agents is not finite");
    require(mean_loss(*network.objective, network.rounds->x()) < network.first_loss,
            agents + " agents learn nothing");
  }
  say({{"rounds", "fine"}});
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Rounds of networks of many agents, timed when asked");
  std::vector<int> agents;
  std::size_t dimension = 1000, samples = 4;
  int threads = 1;
  app.add_option("--agents", agents)->required()->check(CLI::Range(3, 1000000));
  app.add_option("--dimension", dimension)->check(CLI::PositiveNumber);
  app.add_option("--samples", samples)->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return guarded("bench_agents", [&] { run(agents, dimension, samples, threads); });
}
