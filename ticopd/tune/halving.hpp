#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "ticopd/numeric/seed.hpp"

namespace ticopd {

// A point of the search space. It is run for more and more rounds as long as it does well.
struct Trial {
  // How a full run went on when it got its rounds a second time.
  enum class Beyond { unknown, held, grew };

  std::size_t id = 0;
  std::size_t bracket = 0;
  std::vector<double> point;
  std::uint32_t rounds = 0;  // made so far
  double score = 0;          // after them; lower is better, infinite: diverged
  Beyond beyond = Beyond::unknown;
};

// A dimension with a list of values in place of a range. Its coordinates are (i + 1/2) / values.
struct ListedDimension {
  std::size_t values = 0;  // 0: a range
  bool ordered = false;    // numbers in ascending order, so that neighbours are alike
};

// Successive halving (Jamieson and Talwalkar 2016): many evenly spread points run for a sixteenth
// of the rounds, the best quarter of them for a quarter of the rounds, and the best quarter of
// those to the end. A compass search with full runs then refines the best point, so that the result
// is finer than a grid of the same cost. The search is a pure function of the seed and the scores.
//
// With `hold` a full run must also do well when it goes on for as many rounds again. The best point
// is run on now and then, before the compass search looks closer, and at the end. After the first
// one that grew, no point becomes the best before it has held; one that held is better than all
// that grew.
class Halving {
 public:
  struct Plan {
    std::size_t dimensions = 1;
    std::uint64_t seed = default_seed;
    std::uint32_t rounds = 1000;               // of a full run
    double runs = 40;                          // the cost of the whole search, in full runs
    std::vector<bool> rising = {};             // dimensions where a higher value is a shorter step
    std::vector<ListedDimension> listed = {};  // by dimension; empty: all are ranges
    bool hold = false;
  };
  // True if the point may be tried. The function may move the point to the edge of the allowed
  // range.
  using Allows = std::function<bool(std::span<double> point)>;
  // Runs the trials up to `rounds`, in any order, and sets their `score` and `rounds`. Returns the
  // rounds spent, which are fewer if a trial diverged early. `go_on` is false if the user stopped
  // the search. With `hold` it is also asked for twice the rounds of a full run; then an infinite
  // score says that the trial grew.
  struct Spent {
    double rounds = 0;
    bool go_on = true;
  };
  using Advance = std::function<Spent(std::span<Trial*> trials, std::uint32_t rounds)>;

  Halving(Plan plan, Allows allows, Advance advance);

  // The best trial that made all rounds: one that held, else one that nobody ran on, else one that
  // grew. Null if the search was stopped, or if every trial diverged.
  const Trial* search();

  bool stopped() const { return stopped_; }
  double cost() const { return spent_ / plan_.rounds; }  // in full runs

 private:
  Trial* add(std::vector<double> point);
  std::vector<Trial*> draw(std::size_t count, double shorter);
  std::vector<Trial*> around(const Trial& centre, double radius, bool between);
  bool tried(std::span<const double> point, double close) const;
  bool advance(std::vector<Trial*>& trials, std::uint32_t rounds);  // then sorts them
  void bracket(std::size_t count, double shorter);
  void refine();
  void refine_and_settle();
  std::vector<Trial*> best_of_neighbours(std::vector<Trial*> trials) const;
  ListedDimension listed(std::size_t dimension) const;
  bool holds(Trial& trial);
  void settle(double radius);
  Trial* best_but_for_those_that_grew(double radius) const;
  double left() const { return plan_.runs - cost(); }
  double reserve() const;  // full runs that are kept for running on

  Plan plan_;
  Allows allows_;
  Advance advance_;
  std::vector<std::unique_ptr<Trial>> trials_;
  std::size_t brackets_ = 0;
  std::uint64_t drawn_ = 0;
  double spent_ = 0;  // rounds
  bool stopped_ = false;
  Trial* best_ = nullptr;
  double checked_at_ = 0;  // the cost when a trial was run on for the last time
  bool careful_ = false;   // a trial has grown: the next best must hold first
};

}  // namespace ticopd
