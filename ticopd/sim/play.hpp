#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ticopd/run/setup.hpp"
#include "ticopd/sim/faults.hpp"
#include "ticopd/site/world.hpp"

namespace ticopd {

// A roster that the operator signs while a run goes on.
template <class T>
struct SimRoster {
  const RunFactory<T>& algorithm;
  const Setup<T>& setup;
  std::vector<std::string> sites;  // which share the agents, in this order
  std::uint32_t epoch = 1;
};

// A run over simulated sites, and the digest that it must have.
template <class T>
struct SimProblem {
  const RunFactory<T>& algorithm;
  const Setup<T>& setup;
  int sites = 2;       // site-0, site-1, ...
  std::string digest;  // empty: the run diverges
  // Handed out one after the other; a seed draws how many of them. After a change of the epoch the
  // digest must be that of `solve` from where the sites' folders say that the last epoch began.
  std::vector<SimRoster<T>> later = {};
};

// What happened at one seed.
struct SimOutcome {
  enum class End : unsigned char {
    same,      // the digest of the undisturbed run
    refused,   // a site refused to go on, for the right reason
    violation  // another digest, no progress, or an error that no fault explains
  };
  End end = End::violation;
  std::string what;         // of a refusal or a violation
  std::uint64_t trace = 0;  // a hash over all that happened: the same seed has the same
  std::uint64_t kills = 0, power_losses = 0, messages = 0, lost = 0, checkpoints = 0;
  std::uint64_t rosters = 0;       // that were handed out
  std::uint64_t handed_again = 0;  // ... to more than one site, since others did not hear of it
  Time time = 0;                   // on the virtual clock
};

// The real code of sites on a virtual clock, wire and disk. The faults are a function of the seed,
// and so is everything else: a seed can be played again.
template <class T>
SimOutcome play(const SimProblem<T>& problem, std::uint64_t seed, const Faults& faults);

extern template SimOutcome play(const SimProblem<float>&, std::uint64_t, const Faults&);
extern template SimOutcome play(const SimProblem<double>&, std::uint64_t, const Faults&);

}  // namespace ticopd
