#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/tune/space.hpp"

namespace ticopd {

// What a trial runs on: the problem of each seed, loaded once. Seeds that split and draw the same
// data share it.
template <class T>
class Problems {
 public:
  Problems(const Space& space, std::span<const std::uint64_t> seeds, const PrepareOptions& options);

  const Setup<T>& first() const { return prepared_.at(seeds_.front()).setup; }
  const Prepared<T>& of(std::uint64_t seed) const { return prepared_.at(seed); }
  nlohmann::json inputs() const;  // fingerprints of what was loaded, by seed

  // With the codec and the graph of this config. ConfigError if the step sizes suit the graph of
  // the first seed, and not that of this one.
  Prepared<T> at(const Config& tried, std::uint64_t seed) const;

 private:
  Config seeded(const Config& config, std::uint64_t seed) const;

  bool other_graphs_;
  std::vector<std::uint64_t> seeds_;
  PrepareOptions options_;
  std::map<std::uint64_t, Prepared<T>> prepared_;
};

extern template class Problems<float>;
extern template class Problems<double>;

}  // namespace ticopd
