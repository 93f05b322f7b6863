#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "ticopd/error.hpp"

namespace ticopd {

// Ends the program, which a fuzzer takes for a finding.
inline void want(bool fact) {
  if (!fact) std::abort();
}

// So many reads were tried and accepted so far; one around others does not count.
inline std::uint64_t tried_reads = 0, accepted_reads = 0;

// True if `read` accepted its input, false if it refused it with an error of ours. Any other
// exception goes on and is a finding; so is code 70, which means a defect of ours. With FUZZ_SAY in
// the environment it says why.
template <class Read>
bool accepts(Read&& read) {
  const std::uint64_t mine = ++tried_reads;
  try {
    std::forward<Read>(read)();
    if (tried_reads == mine) ++accepted_reads;
    return true;
  } catch (const Error& e) {
    want(e.exit_code() != 70 && *e.what() != '\0');
    if (std::getenv("FUZZ_SAY") != nullptr) std::fprintf(stderr, "refused: %s\n", e.what());
    return false;
  }
}

// A file that we wrote ourselves must be accepted.
template <class Read>
auto read_again(Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const Error& e) {
    std::fprintf(stderr, "our own file is refused: %s\n", e.what());
    std::abort();
  }
}

}  // namespace ticopd
