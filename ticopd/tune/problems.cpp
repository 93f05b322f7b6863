#include "ticopd/tune/problems.hpp"

#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/run/inputs.hpp"

namespace ticopd {

using nlohmann::json;

template <class T>
Problems<T>::Problems(const Space& space, std::span<const std::uint64_t> seeds,
                      const PrepareOptions& options)
    : other_graphs_(space.changes_graph()), seeds_(seeds.begin(), seeds.end()), options_(options) {
  Alone alone;
  const Config any = space.anywhere();
  json loaded;  // the inputs of the first seed
  for (const std::uint64_t seed : seeds_) {
    Prepared<T> p = prepare<T>(seeded(any, seed), options_);
    p.setup.watch.lyapunov = {};
    options_.say = {};  // the other seeds would say the same again
    const json inputs = seeds_.size() > 1 ? inputs_of(p.setup, alone) : json();
    if (loaded.is_null()) loaded = inputs;
    if (seed != seeds_.front() && inputs["agents"] == loaded["agents"] &&
        inputs.value("test", json()) == loaded.value("test", json()))
      p.setup.objective = first().objective;
    prepared_.emplace(seed, std::move(p));
  }
}

template <class T>
Config Problems<T>::seeded(const Config& config, std::uint64_t seed) const {
  json tree = config.tree();
  tree["seed"] = seed;
  tree["network"]["transport"] = "none";  // same result, and the cores are left for trials
  return Config::from_json(tree, config.folder());
}

template <class T>
json Problems<T>::inputs() const {
  Alone alone;
  if (seeds_.size() == 1) return inputs_of(first(), alone);
  json all = json::object();
  for (const std::uint64_t seed : seeds_)
    all[std::to_string(seed)] = inputs_of(of(seed).setup, alone);
  return all;
}

template <class T>
Prepared<T> Problems<T>::at(const Config& tried, std::uint64_t seed) const {
  const Config config = seeded(tried, seed);
  const Prepared<T>& loaded = of(seed);
  if (other_graphs_) {
    Prepared<T> p = prepare_again<T>(config, options_, loaded.setup.objective);
    p.setup.watch.lyapunov = {};
    return p;
  }
  Prepared<T> p = loaded;
  Warnings ignored;
  p.algorithm = configured_algorithm<T>(config, p.spectrum, ignored, loaded.setup.execution.device);
  p.setup.codec = configured_codec<T>(config);
  return p;
}

template class Problems<float>;
template class Problems<double>;

}  // namespace ticopd
