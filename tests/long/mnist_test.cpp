// experiments/mnist_ring10.toml unchanged; a run takes about three minutes on two cores.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "places.hpp"
#include "ticopd/experiment/experiment.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

double best_of_the_worst(const std::vector<std::string>& set) {
  const fs::path out = fs::temp_directory_path() / ("ticopd_mnist_" + std::to_string(::getpid()));
  double best = -1;
  RunOptions options;
  options.out = out;
  options.on_log = [&](const Metrics& m) { best = std::max(best, m.accuracy_min.value_or(-1)); };
  run_experiment(Config::read(places::tree() + "/experiments/mnist_ring10.toml", set), options);
  fs::remove_all(out);
  return best;
}

TEST(Mnist, TiCoPDPassesNinetyPercentWithin1500Rounds) {
  EXPECT_GT(best_of_the_worst({}), 0.90);
}

TEST(Mnist, DGDStaysBelowNinetyPercent) {
  EXPECT_LT(best_of_the_worst({"codec.kind=identity", "algorithm={name=\"dgd\",eta=0.03}"}), 0.90);
}

}  // namespace
}  // namespace ticopd
