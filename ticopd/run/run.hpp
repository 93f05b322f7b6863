#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ticopd/error.hpp"
#include "ticopd/run/measure.hpp"
#include "ticopd/run/setup.hpp"

namespace ticopd {

template <class T>
struct Solution {
  bool finished = true;  // false: stopped from outside, saved where a checkpoint was asked for
  std::uint32_t rounds = 0;
  Field<T> x;                         // the agents' models, one row each: all, or with a
  int first_agent = 0;                // transport those of this process, from this one on
  std::string digest;                 // equal for equal config and seed, however it was run
  std::vector<Ledger::Agent> ledger;  // bytes sent, by agent
  std::string transport;              // what each rank carried: JSON, as in run.json
  Phases phases;                      // seconds by phase, of rank 0
  double spent = 0;                   // seconds of which those are parts: without earlier parts
  std::size_t state_bytes = 0;        // of all fields, mirrors and messages, of rank 0
  std::size_t resident_bytes = 0;     // of the process when the last round was done
  double seconds = 0;                 // time in the run, earlier parts of a resumed run included
  Metrics last;                       // the last logged round
};

// Diverged, with what the run had done up to its last logged round.
struct DivergedRun : Diverged {
  using Diverged::Diverged;
  std::uint32_t rounds = 0;
  std::string digest;
  std::vector<Ledger::Agent> ledger;
  double seconds = 0;
};

// ConfigError for what a program forgot to set. A config always has it.
template <class T>
void check_setup(const Setup<T>& setup);

extern template void check_setup(const Setup<float>&);
extern template void check_setup(const Setup<double>&);

// A run that can be stepped, measured, saved and stepped on. It hosts the agents of one rank: if
// there are several ranks, each has a Run, and all of them make the same calls in the same order.
// Nothing is printed and nothing is global: any number of runs may live side by side.
template <class T>
class Run {
 public:
  // All agents, or with setup.execution.transport those of this process. Goes on from
  // setup.saving.file if setup.saving.resume asks for it and the file is there.
  Run(const RunFactory<T>& algorithm, Setup<T> setup);
  // The agents of one rank of several in this process.
  Run(const RunFactory<T>& algorithm, Setup<T> setup, Transport& rank);
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  // Makes up to so many rounds and returns how many: fewer at the end, or if asked to stop. Logs
  // and saves on the way as the setup says, round 0 included. Throws DivergedRun.
  std::uint32_t step(std::uint32_t rounds = 1);

  bool finished() const;        // all rounds are made
  bool stopped() const;         // asked to stop before that; the state is saved
  std::uint32_t round() const;  // the last that was made

  // Measures the present state. It is not logged, and leaves the digest as it is. Throws
  // Interrupted if asked to stop meanwhile.
  Metrics measure(MetricLevel level = MetricLevel::full);

  // The state as a file, and back; resume only before the first step. A run that goes on from a
  // file has the bits of one that was never interrupted. ConfigError if the file is of a run with
  // other data, another graph or another start; a warning if kernel, BLAS or device changed.
  void save(const std::filesystem::path& file);
  void resume(const std::filesystem::path& file);

  // With setup.saving.snapshot_share: the state between two rounds, kept in memory now and then,
  // for programs that may be asked to save while a step has not come back. One rank only.
  std::optional<std::uint32_t> snapshot_round() const;  // empty: there is none
  std::string snapshot_digest() const;
  void save_snapshot(const std::filesystem::path& file) const;

  void log_every(std::uint32_t rounds);  // instead of setup.watch.rounds; before the first step

  const Field<T>& x();  // the hosted agents' models; good until the next step
  int first_agent() const;
  std::string digest() const;           // of all rounds logged so far
  std::vector<Ledger::Agent> ledger();  // of all agents
  const Metrics& last() const;          // the last logged round

  Solution<T> summary();   // all but x
  Solution<T> solution();  // with a copy of x

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class Run<float>;
extern template class Run<double>;

}  // namespace ticopd
