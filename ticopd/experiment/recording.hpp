#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "ticopd/run/solve.hpp"

// solve() that leaves a run folder, as `ticopd run` does: run.json, metrics.csv and final.npy,
// which `ticopd report` and the Python package read. `ticopd verify` cannot repeat it, since the
// objective is the program's own.
namespace ticopd {

struct Recording {
  std::filesystem::path out;   // new or empty; on every rank, if there are several processes
  std::string name = "run";    // of the run, in reports
  std::string objective = "";  // what f is, in words
};

// The config that run.json shows: what the program set, as far as a config can say it.
template <class T>
nlohmann::json recorded_config(const Setup<T>& setup, const Recording& recording,
                               nlohmann::json algorithm, bool own_codec);

// solve() with the files. UsageError if the folder is taken.
template <class T>
Solution<T> solve_recorded(const RunFactory<T>& algorithm, Setup<T> setup,
                           const Recording& recording, const nlohmann::json& config);

extern template nlohmann::json recorded_config(const Setup<float>&, const Recording&,
                                               nlohmann::json, bool);
extern template nlohmann::json recorded_config(const Setup<double>&, const Recording&,
                                               nlohmann::json, bool);
extern template Solution<float> solve_recorded(const RunFactory<float>&, Setup<float>,
                                               const Recording&, const nlohmann::json&);
extern template Solution<double> solve_recorded(const RunFactory<double>&, Setup<double>,
                                                const Recording&, const nlohmann::json&);

// As it would stand in a config: a number, or a table; null for one that follows from others.
nlohmann::json schedule_json(const Schedule& schedule);

// [algorithm] of the config.
template <class Algorithm>
nlohmann::json algorithm_json(const Algorithm& params) {
  nlohmann::json table{{"name", Algorithm::name}};
  for (const auto& p : Algorithm::parameters())
    if (nlohmann::json value = schedule_json(params.*p.member); !value.is_null())
      table[p.name] = std::move(value);
  for (const auto& f : flags_of<Algorithm>()) table[f.name] = params.*f.member;
  for (const auto& c : choices_of<Algorithm>()) table[c.name] = params.*c.member;
  return table;
}

// solve(TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup, {.out = "runs/mine", .name = "mine"})
template <AlgorithmStruct Algorithm, class T>
Solution<T> solve(Algorithm algorithm, Setup<T> setup, const Recording& recording) {
  RunFactory<T> factory;
  nlohmann::json config;
  try {
    check_setup(setup);
    config = recorded_config(setup, recording, algorithm_json(algorithm), has_own_codec<Algorithm>);
    factory = validated(std::move(algorithm), setup);
  } catch (...) {
    give_up(setup, std::current_exception());
    throw;
  }
  return solve_recorded(factory, std::move(setup), recording, config);
}

}  // namespace ticopd
