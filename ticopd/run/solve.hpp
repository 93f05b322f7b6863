#pragma once

#include <any>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "ticopd/algorithms/compatibility.hpp"
#include "ticopd/algorithms/run_factory.hpp"
#include "ticopd/run/run.hpp"

namespace ticopd {

// Makes all rounds. Throws Diverged, Interrupted (a rank was lost), ConfigError, FormatError,
// DiskError.
template <class T>
Solution<T> solve(const RunFactory<T>& algorithm, const Setup<T>& setup);

extern template Solution<float> solve<float>(const RunFactory<float>&, const Setup<float>&);
extern template Solution<double> solve<double>(const RunFactory<double>&, const Setup<double>&);

// For whoever catches: processes that would wait for this one hear why it gives up.
template <class T>
void give_up(const Setup<T>& setup, std::exception_ptr why) {
  const Execution& e = setup.execution;
  if (e.transport == nullptr || !e.abandons) return;
  try {
    std::rethrow_exception(std::move(why));
  } catch (const Error& known) {
    e.transport->abandon(known.exit_code(), known.what());
  } catch (const std::exception& other) {
    e.transport->abandon(70, other.what());
  } catch (...) {  // a callback may throw anything
    e.transport->abandon(70, "an exception that has no message");
  }
}

// An algorithm given as a struct, on the device of the setup. A GPU has code for the algorithms of
// the library (algorithms/all.hpp); for another one this is a ConfigError.
template <class T, class Algorithm>
RunFactory<T> run_factory_on(Device device, const Algorithm& algorithm) {
  if (device == Device::cpu) return run_factory<T>(algorithm);
  if constexpr (std::is_same_v<T, float>)
    return cuda::run_factory(std::any(algorithm), Algorithm::name);
  else
    throw ConfigError("Setup<double>: with Device::cuda allowed is Setup<float>");
}

// Validates an algorithm and its setup as the command line does: ConfigError if a parameter, the
// codec or the graph does not suit it. Derives parameters from graph and iterations, and takes the
// codec that the algorithm brings.
template <class Algorithm, class T>
RunFactory<T> validated(Algorithm algorithm, Setup<T>& setup) {
  check_setup(setup);
  check_parameters(algorithm);
  const AlgorithmNeeds needs = needs_of(algorithm);
  if (!setup.codec->lossless())
    check_lossy_codec(Algorithm::name, is_uncompressed<Algorithm>, has_own_codec<Algorithm>,
                      "setup.codec", "setup.codec");
  if (needs.codec) setup.codec = make_codec<T>(*needs.codec);
  check_graph(Algorithm::name, needs, setup.graph, setup.links);
  Warnings warnings;
  if (std::string biased = biased_codec(Algorithm::name, needs,
                                        setup.codec->error_bound(setup.objective->dimension()),
                                        setup.codec->options());
      !biased.empty())
    warnings.push_back(std::move(biased));
  Spectrum seen{};
  if constexpr (TakesFromGraph<Algorithm>) seen = spectrum(setup.graph, setup.weights);
  derive_parameters(algorithm, seen, setup.iterations, warnings);
  const Transport* transport = setup.execution.transport;
  if (setup.watch.on_warning && (transport == nullptr || transport->rank() == 0))
    for (const std::string& warning : warnings) setup.watch.on_warning(warning);
  return run_factory_on<T>(setup.execution.device, algorithm);
}

template <class Algorithm>
concept AlgorithmStruct = requires {
  Algorithm::parameters();
};

// solve(TiCoPD{.alpha = 0.1, .theta = 2, .eta = 0.4}, setup)
template <AlgorithmStruct Algorithm, class T>
Solution<T> solve(Algorithm algorithm, Setup<T> setup) {
  RunFactory<T> factory;
  try {
    factory = validated(std::move(algorithm), setup);
  } catch (...) {
    give_up(setup, std::current_exception());
    throw;
  }
  return solve(factory, setup);
}

// The same as an object that is stepped by hand (run.hpp), in this process alone or over the
// setup's transport.
template <AlgorithmStruct Algorithm, class T>
Run<T> make_run(Algorithm algorithm, Setup<T> setup) {
  const RunFactory<T> factory = validated(std::move(algorithm), setup);
  return Run<T>(factory, std::move(setup));
}

}  // namespace ticopd
