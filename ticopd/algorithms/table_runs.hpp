#pragma once

#include <any>

#include "ticopd/algorithms/run_factory.hpp"

// Private to table_runs_float.cpp and table_runs_double.cpp: the compiler spends half a minute on
// all the runs of the table, so each scalar type has a file of its own.
namespace ticopd {

template <class T, class... A>
RunFactory<T> compiled_run(const std::any& params, Algorithms<A...>) {
  RunFactory<T> made;
  const auto take = [&]<class Algorithm>() {
    const auto* given = std::any_cast<Algorithm>(&params);
    if (given != nullptr) made = compile_run<T>(*given);
    return given != nullptr;
  };
  (void)(take.template operator()<A>() || ...);
  return made;
}

template <class T>
RunFactory<T> table_run(const std::any& params) {
  return compiled_run<T>(params, All{});
}

}  // namespace ticopd
