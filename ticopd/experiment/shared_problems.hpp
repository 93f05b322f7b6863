#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ticopd/experiment/config.hpp"
#include "ticopd/objectives/objective.hpp"

namespace ticopd {

template <class T>
struct LoadedProblem {
  std::shared_ptr<const Objective<T>> objective;
  std::string data, labels;  // as in Prepared
};

// Problems that runs in one process share while at least one of them uses them. One problem is
// loaded at a time: reading data takes more memory than keeping it.
class SharedProblems {
 public:
  // `load` is called if no run has a problem of this key now.
  template <class T, class Load>
  LoadedProblem<T> get(const std::string& key, const Load& load) {
    const std::lock_guard lock(mutex_);
    Kept& kept = problems_[key];
    if (auto objective = std::static_pointer_cast<const Objective<T>>(kept.objective.lock()))
      return {std::move(objective), kept.data, kept.labels};
    LoadedProblem<T> loaded = load();
    kept = {loaded.objective, loaded.data, loaded.labels};
    return loaded;
  }

 private:
  struct Kept {
    std::weak_ptr<const void> objective;  // the key has the precision
    std::string data, labels;
  };

  std::mutex mutex_;
  std::map<std::string, Kept> problems_;
};

// All that decides an objective and its data: equal for runs that differ in other things only.
std::string problem_key(const Config& config, int agents);

}  // namespace ticopd
