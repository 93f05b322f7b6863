#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "network/every_algorithm.hpp"

namespace ticopd::dense {

struct Way {
  int threads, ranks;
};

// Everything that a run reports, except its time.
struct Record {
  std::string digest;
  std::vector<std::byte> x;
  std::vector<std::string> metrics;
};

inline std::string without_seconds(Metrics m) {
  m.seconds = 0;
  return to_csv(m);  // the shortest text that parses to the same double
}

template <class T>
Record record(const RunFactory<T>& algorithm, Setup<T> setup, Way way) {
  Record r;
  setup.execution.threads = way.threads;
  setup.execution.ranks = way.ranks;
  setup.watch.on_log = [&](const Metrics& m) { r.metrics.push_back(without_seconds(m)); };
  const Solution<T> solution = solve(algorithm, setup);
  r.digest = solution.digest;
  r.x.resize(solution.x.bytes());
  std::memcpy(r.x.data(), solution.x.data(), r.x.size());
  return r;
}

template <class T>
void expect_same_bits(std::string_view name, const Setup<T>& setup, const std::vector<Way>& ways) {
  const RunFactory<T> run = algorithm<T>(name, setup.graph);
  const Record one = record(run, setup, {1, 1});
  ASSERT_GE(one.metrics.size(), 3u);
  for (const Way way : ways) {
    const Record other = record(run, setup, way);
    const std::string where = fmt::format("{} threads, {} ranks", way.threads, way.ranks);
    EXPECT_EQ(other.digest, one.digest) << where;
    EXPECT_TRUE(other.x == one.x) << where;
    EXPECT_EQ(other.metrics, one.metrics) << where;
  }
}

}  // namespace ticopd::dense
