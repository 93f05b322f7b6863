#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ticopd/run/metrics.hpp"
#include "ticopd/tune/beyond.hpp"
#include "ticopd/tune/goal.hpp"
#include "ticopd/tune/halving.hpp"
#include "ticopd/tune/problems.hpp"
#include "ticopd/tune/space.hpp"
#include "ticopd/tune/trials.hpp"

namespace ticopd {

// Runs trials, one seed of one trial at a time, and continues them from their checkpoints.
template <class T>
class TrialRuns {
 public:
  struct Budget {
    std::uint32_t rounds = 0;   // of a full run
    double bits_per_round = 0;  // 0: rounds end a trial; else the bits of so many rounds
  };

  TrialRuns(const Space& space, const Problems<T>& problems, const Goal& goal,
            std::vector<std::uint64_t> seeds, std::filesystem::path folder,
            const std::atomic<bool>* stop);

  // Trials are measured at their end alone. So the start, which tells if a trial diverged or grew,
  // is measured here, once for all. ConfigError if the goal cannot be pursued.
  void measure_starts(int threads);
  void set(Budget budget) { budget_ = budget; }

  // Up to so many rounds; `before` is its last result, and `full` that of a full run, if it has made
  // one. Empty if it was asked to stop: the state is saved.
  std::optional<TrialResult> run(const Trial& trial, std::uint64_t seed, std::uint32_t rounds,
                                 const std::optional<TrialResult>& before,
                                 const std::optional<TrialResult>& full, int threads,
                                 const std::function<void()>& on_round) const;

  std::filesystem::path checkpoint(std::size_t trial, std::uint64_t seed) const;

 private:
  struct Saved {  // the checkpoint from which a stopped trial continues
    std::uint32_t round = 0;
    double bits = 0;  // sent up to that round, mean over agents
  };

  bool make_rounds(const Trial& trial, TrialResult& result, int threads,
                   const std::function<void()>& on_round) const;
  bool measure_end(const Prepared<T>& tried, TrialResult& result) const;
  Saved read_saved(const std::filesystem::path& file) const;
  std::uint32_t rounds_between(const std::optional<TrialResult>& before,
                               const TrialResult& now) const;

  const Space& space_;
  const Problems<T>& problems_;
  const Goal& goal_;
  std::vector<std::uint64_t> seeds_;
  std::filesystem::path folder_;
  const std::atomic<bool>* stop_;
  Budget budget_;
  std::map<std::uint64_t, Metrics> start_;  // of each seed, at round 0
};

extern template class TrialRuns<float>;
extern template class TrialRuns<double>;

}  // namespace ticopd
