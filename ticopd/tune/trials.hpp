#pragma once

#include <atomic>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ticopd/tune/halving.hpp"
#include "ticopd/tune/space.hpp"

namespace ticopd {

// One line of trials.csv: the result of a trial with one seed after some rounds.
struct TrialResult {
  std::size_t trial = 0, bracket = 0;
  std::uint32_t rounds = 0;  // planned, counted from the start
  std::uint32_t spent = 0;   // made for this line; fewer if the trial diverged
  TriedValues values;
  double metric = 0;  // as measured; nan: diverged; infinite: the target was not reached
  double bits_payload = 0;
  std::uint32_t made =
      0;  // from the start; differs from `rounds` if bits or a target end the trial
  std::uint64_t seed = 0;
  bool grew = false;  // it ran on beyond a full run, and became worse there
  // At its end; nan: not measured. A full run that goes on is compared with them.
  double at_end = NAN;  // the metric that a target is given for
  double loss = NAN, grad_norm2 = NAN, accuracy = NAN;
};

// Reads and writes trials.csv: the trials in the order of the search, independent of the number of
// cores. It is also the saved state of a stopped search. The search is a pure function of its seed
// and these lines, so it is replayed from them and continues where they end.
class TrialLog {
 public:
  TrialLog(std::filesystem::path file, std::vector<std::string> axes, std::string metric);

  void load();  // FormatError names the line
  std::optional<TrialResult> find(std::size_t trial, std::uint32_t rounds,
                                  std::uint64_t seed) const;
  void add(TrialResult result);  // from any thread
  void publish() const;

  std::vector<TrialResult> results() const;  // in the order of the search

 private:
  std::string header() const;

  std::filesystem::path file_;
  std::vector<std::string> axes_;
  std::string metric_;
  mutable std::mutex mutex_;
  using Key = std::tuple<std::uint32_t, std::size_t, std::uint64_t>;  // rounds, trial, seed
  std::map<Key, TrialResult> by_trial_;
  double published_at_ = 0;
};

}  // namespace ticopd
