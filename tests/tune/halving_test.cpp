// Successive halving on synthetic scores: what it costs, what it finds and what it remembers.
#include "ticopd/tune/halving.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace ticopd {
namespace {

using Point = std::vector<double>;
using Score = std::function<double(const Point&, double share_of_the_rounds)>;

struct Found {
  std::optional<Point> best;
  double score = 0;
  double cost = 0;    // as the search reports it
  double rounds = 0;  // as counted here
  bool stopped = false;
  Trial::Beyond beyond = Trial::Beyond::unknown;
  std::vector<Trial> log;  // one entry each time a trial is continued
};

// The inputs of a search besides its plan.
struct Around {
  Halving::Allows allows = [](std::span<double>) { return true; };
  double rounds_to_lose = INFINITY;   // rounds after which a diverging trial ends
  std::size_t new_scores = SIZE_MAX;  // the search is stopped after this many scores
  std::map<std::pair<std::size_t, std::uint32_t>, double>* memory = nullptr;
};

Found search(const Halving::Plan& plan, const Score& score, const Around& around = {}) {
  Found found;
  std::size_t scored = 0;
  Halving halving(plan, around.allows, [&](std::span<Trial*> trials, std::uint32_t rounds) {
    Halving::Spent spent;
    for (Trial* t : trials) {
      const bool known = around.memory && around.memory->contains({t->id, rounds});
      if (!known && scored++ == around.new_scores) return Halving::Spent{0, false};
      const double s = known ? around.memory->at({t->id, rounds})
                             : score(t->point, static_cast<double>(rounds) / plan.rounds);
      if (around.memory) (*around.memory)[{t->id, rounds}] = s;
      const double made = rounds - t->rounds;
      spent.rounds += std::isinf(s) ? std::min(made, around.rounds_to_lose) : made;
      t->score = s;
      t->rounds = rounds;
      found.log.push_back(*t);
    }
    found.rounds += spent.rounds;
    return spent;
  });
  if (const Trial* best = halving.search()) {
    found.best = best->point;
    found.score = best->score;
    found.beyond = best->beyond;
  }
  found.cost = halving.cost();
  found.stopped = halving.stopped();
  return found;
}

double distance2(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Coordinates are logarithms of step sizes. Short runs prefer longer steps than long runs.
Score bowl(Point centre, double drift = 0.1) {
  return [=](const Point& p, double share) {
    Point c = centre;
    for (double& v : c) v += drift * (1 - share);
    return distance2(p, c) + 1 - share;
  };
}

// Clamps a point, like a closed range or a step size with a maximum.
Halving::Allows within(double low, double high) {
  return [=](std::span<double> point) {
    for (double& p : point) p = std::clamp(p, low, high);
    return true;
  };
}

Halving::Plan plan_for(std::size_t dimensions, std::uint64_t seed = 1) {
  return {.dimensions = dimensions, .seed = seed, .rounds = 1000, .runs = 40};
}

bool same(const std::vector<Trial>& a, const std::vector<Trial>& b) {
  return std::ranges::equal(a, b, [](const Trial& s, const Trial& t) {
    return s.id == t.id && s.bracket == t.bracket && s.point == t.point && s.rounds == t.rounds &&
           s.score == t.score;
  });
}

TEST(Halving, NeverExceedsItsBudget) {
  for (std::size_t dimensions = 1; dimensions <= 4; ++dimensions)
    for (std::uint64_t seed = 0; seed < 4; ++seed)
      for (const std::uint32_t rounds : {1u, 2u, 3u, 5u, 17u, 64u, 1000u})
        for (double runs = 2; runs <= 100; runs += runs < 10 ? 1 : 7.5) {
          const Halving::Plan plan{dimensions, seed, rounds, runs};
          const Found found = search(plan, bowl(Point(dimensions, 0.4)));
          ASSERT_TRUE(found.best);
          ASSERT_LE(found.rounds, runs * rounds + 1e-6)
              << dimensions << " dimensions, " << runs << " runs of " << rounds << ", seed "
              << seed;
          ASSERT_NEAR(found.cost, found.rounds / rounds, 1e-9);
        }
}

TEST(Halving, NeverExceedsItsBudgetWhenItLooksLower) {
  for (double runs = 2; runs <= 60; ++runs)
    for (const double edge : {-0.2, -1.2, -2.2}) {
      Halving::Plan plan = plan_for(2);
      plan.runs = runs;
      const Found found = search(plan, [&](const Point& p, double share) {
        return p[0] > edge ? INFINITY : bowl({-2.5, 0})(p, share);
      });
      ASSERT_LE(found.rounds, runs * plan.rounds + 1e-6) << runs << " runs";
    }
}

TEST(Halving, FindsTheMinimumOfABowl) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Point centre{0.13 + 0.06 * static_cast<double>(seed), 0.71, 0.35};
    for (std::size_t d = 1; d <= 3; ++d) {
      const Point c(centre.begin(), centre.begin() + static_cast<std::ptrdiff_t>(d));
      const Found found = search(plan_for(d, seed), bowl(c));
      ASSERT_TRUE(found.best);
      EXPECT_LT(std::sqrt(distance2(*found.best, c)), d == 1   ? 0.01
                                                      : d == 2 ? 0.05
                                                               : 0.15)
          << d << " dimensions, seed " << seed;
    }
  }
}

TEST(Halving, ReturnsTheBestOfTheFullRuns) {
  const Found found = search(plan_for(2), bowl({0.3, 0.8}));
  double best = INFINITY;
  for (const Trial& t : found.log)
    if (t.rounds == 1000) best = std::min(best, t.score);
  EXPECT_EQ(found.score, best);
}

TEST(Halving, SearchesBeyondItsInitialRange) {
  const Found found = search(plan_for(1), bowl({1.2}));
  EXPECT_NEAR(found.best->at(0), 1.2, 0.01);
}

TEST(Halving, ReachesTheEdgeOfTheAllowedRange) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Found found = search(plan_for(2, seed), bowl({1.3, -0.2}), {.allows = within(0, 1)});
    EXPECT_EQ(*found.best, (Point{1, 0})) << "seed " << seed;
  }
}

TEST(Halving, TriesNoRejectedPoint) {
  const auto half = [](std::span<double> p) { return p[0] + p[1] < 1; };
  const Found found = search(plan_for(2), bowl({0.8, 0.8}), {.allows = half});
  for (const Trial& t : found.log) EXPECT_LT(t.point[0] + t.point[1], 1);
  EXPECT_GT(found.best->at(0) + found.best->at(1), 0.9);
}

TEST(Halving, FindsNothingIfAllPointsAreRejected) {
  const Found found = search(plan_for(2), bowl({0, 0}), {.allows = [](auto) { return false; }});
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(found.rounds, 0);
}

TEST(Halving, DoesNotContinueADivergedTrial) {
  const Found found =
      search(plan_for(2),
             [](const Point& p, double share) {
               return p[0] + 0.3 * share > 0.9 ? INFINITY : bowl({0.65, 0.5})(p, share);
             },
             {.rounds_to_lose = 3});
  std::set<std::size_t> lost;
  for (const Trial& t : found.log) {
    EXPECT_FALSE(lost.contains(t.id)) << "trial " << t.id << " came back";
    if (std::isinf(t.score)) lost.insert(t.id);
  }
  EXPECT_GT(lost.size(), 5u);
  EXPECT_LE(found.best->at(0), 0.6 + 1e-9);
  EXPECT_GT(found.best->at(0), 0.55);
  EXPECT_DOUBLE_EQ(found.cost * 1000, found.rounds);
}

TEST(Halving, LooksLowerIfAllTrialsDiverge) {
  for (const double edge : {-0.1, -1.1, -2.1}) {
    const Found found = search(
        plan_for(2),
        [&](const Point& p, double share) {
          return std::max(p[0], p[1]) > edge ? INFINITY : bowl({edge - 0.3, edge - 0.4})(p, share);
        },
        {.rounds_to_lose = 4});
    ASSERT_TRUE(found.best) << edge;
    EXPECT_LT(std::sqrt(distance2(*found.best, {edge - 0.3, edge - 0.4})), 0.05);
  }
}

TEST(Halving, LooksHigherOnAxesThatShortenTheStep) {
  Halving::Plan plan = plan_for(2);
  plan.rising = {false, true};
  const Found found =
      search(plan,
             [](const Point& p, double share) {
               return p[0] > -0.1 || p[1] < 1.1 ? INFINITY : bowl({-0.4, 1.5})(p, share);
             },
             {.rounds_to_lose = 4});
  ASSERT_TRUE(found.best);
  EXPECT_LT(std::sqrt(distance2(*found.best, {-0.4, 1.5})), 0.05);
}

TEST(Halving, GivesUpIfLowerTrialsDivergeToo) {
  const Found found =
      search(plan_for(2), [](const Point&, double) { return INFINITY; }, {.rounds_to_lose = 4});
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.stopped);
  EXPECT_LT(found.cost, 3);
  double lowest = 1;
  for (const Trial& t : found.log) lowest = std::min(lowest, t.point[0]);
  EXPECT_LT(lowest, -2.5);
}

TEST(Halving, TriesNoPointTwiceAtTheEdge) {
  const Found found = search(plan_for(2), [](const Point&, double) { return INFINITY; },
                             {.allows = within(0, 1), .rounds_to_lose = 4});
  std::set<Point> seen;
  for (const Trial& t : found.log) EXPECT_TRUE(seen.insert(t.point).second);
}

TEST(Halving, DependsOnlyOnItsSeed) {
  const Found a = search(plan_for(2, 5), bowl({0.3, 0.8}));
  EXPECT_TRUE(same(a.log, search(plan_for(2, 5), bowl({0.3, 0.8})).log));
  std::set<Point> tried;
  for (const Trial& t : a.log) tried.insert(t.point);
  for (const Trial& t : search(plan_for(2, 6), bowl({0.3, 0.8})).log)
    EXPECT_FALSE(tried.contains(t.point));
}

TEST(Halving, SpreadsItsFirstTrialsEvenly) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    int cells[4][4] = {};
    int first = 0;
    for (const Trial& t : search(plan_for(2, seed), bowl({0.3, 0.8})).log) {
      if (t.rounds != 63 || t.bracket != 0) continue;  // 1000 / 16, rounded up
      ++first;
      ++cells[static_cast<int>(4 * t.point[0])][static_cast<int>(4 * t.point[1])];
    }
    for (const auto& row : cells)
      for (const int count : row) {
        EXPECT_GE(count, first / 16 / 2) << "seed " << seed;
        EXPECT_LE(count, first / 16 * 2) << "seed " << seed;
      }
  }
}

TEST(Halving, StoppedAnywhereResumesToTheSameAnswer) {
  const Score score = [](const Point& p, double share) {
    return p[0] + share > 1.5 ? INFINITY : bowl({0.4, 0.6})(p, share);
  };
  const Found whole = search(plan_for(2), score);
  for (std::size_t stop = 0; stop < whole.log.size(); stop += 3) {
    std::map<std::pair<std::size_t, std::uint32_t>, double> memory;
    const Found first = search(plan_for(2), score, {.new_scores = stop, .memory = &memory});
    ASSERT_TRUE(first.stopped);
    ASSERT_FALSE(first.best);
    ASSERT_EQ(memory.size(), stop);
    const Found second =
        search(plan_for(2), score, {.new_scores = whole.log.size() - stop, .memory = &memory});
    ASSERT_FALSE(second.stopped) << "it asked for more than was left";
    ASSERT_TRUE(same(second.log, whole.log)) << "stopped after " << stop;
    ASSERT_EQ(second.best, whole.best);
    ASSERT_EQ(second.cost, whole.cost);
  }
}

// Coordinates of a list of so many values, as a space makes them.
Halving::Allows snapped(std::size_t dimension, std::size_t values) {
  return [=](std::span<double> point) {
    const double v = static_cast<double>(values);
    const double at = std::clamp(std::floor(point[dimension] * v), 0.0, v - 1);
    point[dimension] = (at + 0.5) / v;
    return true;
  };
}

TEST(Halving, FindsTheBestOfValuesWithoutAnOrder) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Halving::Plan plan = plan_for(2, seed);
    plan.listed = {{}, {3, false}};
    // Each value has its best step size elsewhere; the second value is the best.
    const Found found =
        search(plan,
               [](const Point& p, double share) {
                 const bool second = std::abs(p[1] - 0.5) < 0.01;
                 return bowl({second ? 0.8 : 0.2})({p[0]}, share) + (second ? 0 : 0.05);
               },
               {.allows = snapped(1, 3)});
    ASSERT_TRUE(found.best);
    EXPECT_NEAR(found.best->at(1), 0.5, 1e-9) << "seed " << seed;
    EXPECT_NEAR(found.best->at(0), 0.8, 0.03) << "seed " << seed;
    // The compass search leaves such values alone: after the first bracket only the best is there.
    for (const Trial& t : found.log) {
      if (t.bracket > 0) {
        EXPECT_NEAR(t.point[1], 0.5, 1e-9);
      }
    }
  }
}

TEST(Halving, WalksAlongOrderedValues) {
  Halving::Plan plan = plan_for(2);
  plan.listed = {{}, {16, true}};
  const Found found = search(plan, bowl({0.3, 14.5 / 16}, 0), {.allows = snapped(1, 16)});
  ASSERT_TRUE(found.best);
  EXPECT_NEAR(found.best->at(1), 14.5 / 16, 1e-9);
  EXPECT_NEAR(found.best->at(0), 0.3, 0.03);
}

TEST(Halving, TriesEachOfAFewValuesOnce) {
  Halving::Plan plan = plan_for(1);
  plan.listed = {{4, false}};
  const Found found = search(plan, bowl({0.6}, 0), {.allows = snapped(0, 4)});
  std::set<std::size_t> trials;
  for (const Trial& t : found.log) trials.insert(t.id);
  EXPECT_EQ(trials.size(), 4u);
  EXPECT_EQ(*found.best, (Point{0.625}));
}

// Beyond `edge` a point wins a full run, and grows when it goes on.
Score growing_beyond(double edge) {
  return [=](const Point& p, double share) {
    if (share > 1 && p[0] > edge) return double{INFINITY};
    return distance2(p, Point(p.size(), 0.9)) + 1 - std::min(share, 1.0);
  };
}

TEST(Halving, TakesNoPointThatGrowsBeyondAFullRun) {
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (const double edge : {0.3, 0.6}) {
      Halving::Plan plan = plan_for(2, seed);
      const Found blind = search(plan, growing_beyond(edge));
      EXPECT_GT(blind.best->at(0), edge) << "a test that cannot fail";
      plan.hold = true;
      const Found found = search(plan, growing_beyond(edge));
      ASSERT_TRUE(found.best);
      EXPECT_LE(found.best->at(0), edge) << "seed " << seed;
      EXPECT_GT(found.best->at(0), edge - 0.15) << "seed " << seed << ": too far away";
      EXPECT_LE(found.cost, plan.runs);
      EXPECT_NEAR(found.cost, found.rounds / plan.rounds, 1e-9);
      const auto ran_on = [&](const Trial& t) {
        return t.rounds == 2 * plan.rounds && t.point == *found.best;
      };
      EXPECT_TRUE(std::ranges::any_of(found.log, ran_on)) << "the answer itself was never run on";
    }
}

TEST(Halving, LooksHalfWayAtATrialThatRunsOn) {
  Halving::Plan plan = plan_for(2);
  plan.hold = true;
  const Found found = search(plan, growing_beyond(0.5));
  std::map<std::size_t, std::vector<double>> looks;
  for (const Trial& t : found.log)
    if (t.rounds > plan.rounds) looks[t.id].push_back(static_cast<double>(t.rounds) / plan.rounds);
  ASSERT_FALSE(looks.empty());
  std::set<std::size_t> lengths;
  for (const auto& [id, at] : looks) {
    EXPECT_EQ(at.front(), 1.5) << id;
    EXPECT_EQ(at.back(), at.size() == 1 ? 1.5 : 2.0) << id;  // one that grew goes no further
    lengths.insert(at.size());
  }
  EXPECT_EQ(lengths, (std::set<std::size_t>{1, 2}));
}

TEST(Halving, RunsTheBestOnWithinItsBudget) {
  for (double runs = 6; runs <= 60; runs += 3) {
    Halving::Plan plan = plan_for(2);
    plan.runs = runs;
    plan.hold = true;
    for (const double edge : {0.5, 2.0}) {
      const Found found = search(plan, growing_beyond(edge));
      ASSERT_TRUE(found.best);
      EXPECT_LE(found.rounds, runs * plan.rounds + 1e-6) << runs << " runs";
    }
  }
}

TEST(Halving, NamesTheBestOfThoseThatGrewIfNoneHolds) {
  Halving::Plan plan = plan_for(1);
  plan.hold = true;
  const Found found = search(plan, growing_beyond(-10));
  ASSERT_TRUE(found.best);
  EXPECT_EQ(found.beyond, Trial::Beyond::grew);
}

TEST(Halving, StoppedAnywhereResumesToTheSameAnswerThatHolds) {
  Halving::Plan plan = plan_for(2);
  plan.hold = true;
  plan.listed = {{}, {3, false}};
  const Around listed{.allows = snapped(1, 3)};
  const Found whole = search(plan, growing_beyond(0.5), listed);
  for (std::size_t stop = 0; stop < whole.log.size(); stop += 5) {
    std::map<std::pair<std::size_t, std::uint32_t>, double> memory;
    Around part = listed;
    part.memory = &memory;
    part.new_scores = stop;
    ASSERT_TRUE(search(plan, growing_beyond(0.5), part).stopped);
    part.new_scores = whole.log.size() - stop;
    const Found second = search(plan, growing_beyond(0.5), part);
    ASSERT_TRUE(same(second.log, whole.log)) << "stopped after " << stop;
    ASSERT_EQ(second.best, whole.best);
  }
}

}  // namespace
}  // namespace ticopd
