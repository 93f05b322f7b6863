// A short version of the paper's problem on the real images. tests/long has the full one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "places.hpp"
#include "ticopd/experiment/experiment.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

// The test accuracy of the worst agent after the last round.
double worst_accuracy(const std::vector<std::string>& set) {
  const fs::path out = fs::temp_directory_path() / ("ticopd_mnist_" + std::to_string(::getpid()));
  double worst = -1;
  RunOptions options;
  options.out = out;
  options.prepare.offline = false;
  options.on_log = [&](const Metrics& m) { worst = m.accuracy_min.value_or(-1); };
  const Config config = Config::read(places::tree() + "/experiments/mnist_ring10.toml", set);
  const auto summary = run_experiment(config, options);
  EXPECT_EQ(summary["status"], "finished");
  EXPECT_EQ(summary["dimension"], 79510);
  fs::remove_all(out);
  return worst;
}

TEST(Mnist, TiCoPDTrainsAgentsWithOneDigitEachAndDGDDoesNot) {
  const std::vector<std::string> small{"problem.max_samples=1000", "iterations=700",
                                       "log.every=700"};
  std::vector<std::string> quick = small, dgd = small;
  quick.insert(quick.end(),
               {"algorithm.alpha=0.7", "algorithm.theta=0.2857", "algorithm.eta=0.02857"});
  dgd.insert(dgd.end(), {"codec.kind=identity", "algorithm={name=\"dgd\",eta=0.03}"});
  EXPECT_GT(worst_accuracy(quick), 0.8);
  EXPECT_LT(worst_accuracy(dgd), 0.6);
}

}  // namespace
}  // namespace ticopd
