// Every algorithm without a range in the file: the search does as well as a coarse grid.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ticopd/algorithms/registry.hpp"
#include "tune/small_search.hpp"

namespace ticopd {
namespace {

class EveryAlgorithm : public SmallSearch, public ::testing::WithParamInterface<std::string> {
 protected:
  static std::string codec_for(const AlgorithmInfo& info) {
    if (info.uncompressed || info.own_codec) return "kind = \"identity\"";
    return info.name == "lead" || info.name == "qdgd" || info.name == "dgd_quantized"
               ? "kind = \"qsgd\"\nbits = 4\nscaled = false"
               : "kind = \"qsgd\"\nbits = 4";
  }

  static Config config_for(const AlgorithmInfo& info) {
    return Config::parse(
        "iterations = 100\nprecision = \"double\"\n[problem]\nobjective = \"logistic\"\nclasses = "
        "2\n"
        "l2 = 0.01\ndata = \"synthetic\"\nsamples = 100\nfeatures = 5\npartition = \"sorted\"\n"
        "[graph]\nkind = \"complete\"\nagents = 5\n[algorithm]\nname = \"" +
            std::string(info.name) + "\"\n[codec]\n" + codec_for(info) + "\n",
        ".");
  }

  // Four values of each of up to three parameters; of more, as many points spread over the ranges.
  static double best_of_grid(const Config& config, const std::string& metric) {
    const Space space(config);
    Prepared<double> prepared = prepare<double>(space.anywhere(), {.threads = 1});
    prepared.setup.watch.only_last = true;
    const std::size_t dimensions = space.axes().size();
    const std::size_t points = dimensions > 3 ? 256 : std::size_t{1} << (2 * dimensions);
    double best = INFINITY;
    for (std::size_t i = 0; i < points; ++i) {
      std::vector<double> point(dimensions);
      for (std::size_t k = 0; k < dimensions; ++k)
        point[k] =
            dimensions > 3
                ? std::fmod(static_cast<double>(i) * std::sqrt(2.0 + 3 * static_cast<double>(k)),
                            1.0)
                : (static_cast<double>(i >> (2 * k) & 3) + 0.5) / 4;
      if (!space.admit(point)) continue;
      Warnings ignored;
      try {
        const auto algorithm =
            configured_algorithm<double>(space.with(space.at(point)), prepared.spectrum, ignored);
        best = std::min(best, value_of(solve(algorithm, prepared.setup).last, metric).value());
      } catch (const Diverged&) {
      }
    }
    return best;
  }

  static double at_start(const Config& config, const std::string& metric) {
    const Prepared<double> p = prepare<double>(Space(config).anywhere(), {.threads = 1});
    return value_of(ticopd::Run<double>(p.algorithm, p.setup).measure(), metric).value();
  }
};

TEST_P(EveryAlgorithm, IsTunedAsWellAsByACoarseGrid) {
  const Config config = config_for(algorithm_info(GetParam()));
  const std::string metric = "loss_max";
  const double best = best_of_grid(config, metric), start = at_start(config, metric);
  ASSERT_TRUE(std::isfinite(best));
  const Tuned t = tune(config, into("a", 40));
  EXPECT_LE(t.cost, 40);
  EXPECT_LE(t.value, best + 0.02 * std::abs(start - best))
      << "grid " << best << ", start " << start << ", found " << nlohmann::json(t.values).dump();
  RecordProperty("value", std::to_string(t.value));
}

std::vector<std::string> all_algorithms() {
  std::vector<std::string> names;
  for (const AlgorithmInfo& info : algorithm_table()) names.emplace_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryAlgorithm, ::testing::ValuesIn(all_algorithms()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace ticopd
