#include "ticopd/tune/halving.hpp"

#include <algorithm>
#include <cmath>

namespace ticopd {
namespace {

constexpr std::size_t keep_one_in = 4;
constexpr double rungs[] = {1.0 / 16, 1.0 / 4, 1};
constexpr double looks[] = {1.5, 2};   // where a trial that runs on is looked at
constexpr double share = 0.4;          // of the cost for halving; the rest is for full runs
constexpr double first_radius = 0.12;  // of the compass search
constexpr std::size_t smallest = 6;    // trials that make a bracket worthwhile
constexpr double between_checks = 6;   // full runs

std::size_t survivors(std::size_t trials) {
  return (trials + keep_one_in - 1) / keep_one_in;
}

std::uint32_t rounds_at(double rung, std::uint32_t rounds) {
  return static_cast<std::uint32_t>(std::ceil(rung * rounds));
}

// The cost of a bracket in full runs. Survivors continue, they do not start again. With few rounds
// a rung costs more than its share, since the number of rounds is rounded up; it costs even more if
// two rungs have the same number of rounds.
double cost_of(std::size_t trials, std::uint32_t rounds = 16) {
  double cost = 0;
  std::uint32_t before = 0;
  for (const double rung : rungs) {
    const std::uint32_t at = rounds_at(rung, rounds);
    if (at == before) continue;
    if (before > 0) trials = survivors(trials);
    cost += static_cast<double>(trials) * (at - before);
    before = at;
  }
  return cost / rounds;
}

// The largest number of trials whose bracket costs about `cost` and never more than `left`. It is
// limited by the dimension of the space, since more trials would not help.
std::size_t affordable(double cost, double left, const Halving::Plan& plan) {
  std::size_t count = 32 * plan.dimensions * plan.dimensions;
  while (count > smallest && cost_of(count) > cost) --count;
  while (count > 1 && cost_of(count, plan.rounds) > left) --count;
  return count;
}

// Point `k` of the additive recurrence with the generalised golden ratio (Roberts 2018). Every
// prefix of the sequence is spread evenly, so the number of points need not be known in advance.
std::vector<double> spread(std::uint64_t k, std::uint64_t seed, std::size_t dimensions) {
  double ratio = 2;
  for (int i = 0; i < 40; ++i)
    ratio = std::pow(1 + ratio, 1.0 / static_cast<double>(dimensions + 1));
  std::vector<double> u(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    // In more than three dimensions the ratio is close to 1, and its first powers to fractions such
    // as 6/7: the points would have few different coordinates.
    constexpr double primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    const double step = dimensions > 3 ? std::fmod(std::sqrt(primes[i % std::size(primes)]), 1.0)
                                       : std::pow(1 / ratio, static_cast<double>(i + 1));
    const double start = 0.5 + 0.6180339887498949 * static_cast<double>(seed % 4096);
    u[i] = std::fmod(start + step * static_cast<double>(k), 1.0);
  }
  return u;
}

bool better(const Trial* a, const Trial* b) {
  if (a->score != b->score) return a->score < b->score;
  return a->id < b->id;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

Halving::Halving(Plan plan, Allows allows, Advance advance)
    : plan_(plan), allows_(std::move(allows)), advance_(std::move(advance)) {}

ListedDimension Halving::listed(std::size_t dimension) const {
  return dimension < plan_.listed.size() ? plan_.listed[dimension] : ListedDimension{};
}

// Groups trials by their first step size and keeps the best of each group. A short run may favour
// steps that are too long, or too short to move at all, so a trial competes only with trials of
// about the same first step size. Values that have no order are the first to group by: a good step
// for one codec says nothing about another.
std::vector<Trial*> Halving::best_of_neighbours(std::vector<Trial*> trials) const {
  std::erase_if(trials, [](const Trial* t) { return std::isinf(t->score); });
  std::size_t first = 0;
  while (first + 1 < plan_.dimensions && listed(first).values > 0) ++first;
  const auto place = [&](const Trial* t) {
    std::vector<double> key;
    for (std::size_t i = 0; i < plan_.dimensions; ++i)
      if (listed(i).values > 0 && !listed(i).ordered) key.push_back(t->point[i]);
    key.push_back(t->point[first]);
    return std::pair(key, t->id);
  };
  std::ranges::sort(trials, {}, place);
  std::vector<Trial*> best;
  const std::size_t groups = survivors(trials.size());
  for (std::size_t g = 0; g < groups; ++g) {
    const auto begin = trials.begin() + static_cast<std::ptrdiff_t>(g * trials.size() / groups);
    const auto end = trials.begin() + static_cast<std::ptrdiff_t>((g + 1) * trials.size() / groups);
    best.push_back(*std::min_element(begin, end, better));
  }
  return best;
}

// Draws points of the unit box, moved by `shorter` widths of the box towards shorter steps.
std::vector<Trial*> Halving::draw(std::size_t count, double shorter) {
  std::vector<Trial*> drawn;
  // The limit on tries ends the loop if the algorithm refuses nearly every point.
  for (std::size_t tries = 0; drawn.size() < count && tries < 50 * count; ++tries) {
    std::vector<double> point = spread(drawn_++, plan_.seed, plan_.dimensions);
    for (std::size_t i = 0; i < point.size(); ++i)
      if (listed(i).values == 0)
        point[i] += i < plan_.rising.size() && plan_.rising[i] ? shorter : -shorter;
    // Points beyond a closed range are all moved to its edge. One of them is enough.
    const auto is_this = [&](const auto& t) { return t->point == point; };
    if (allows_(point) && std::ranges::none_of(trials_, is_this))
      drawn.push_back(add(std::move(point)));
  }
  return drawn;
}

bool Halving::advance(std::vector<Trial*>& trials, std::uint32_t rounds) {
  const Spent spent = advance_(trials, rounds);
  spent_ += spent.rounds;
  stopped_ = !spent.go_on;
  std::ranges::sort(trials, better);
  return !stopped_;
}

void Halving::bracket(std::size_t count, double shorter) {
  std::vector<Trial*> alive = draw(count, shorter);
  ++brackets_;
  std::uint32_t before = 0;
  for (const double rung : rungs) {
    const std::uint32_t rounds = rounds_at(rung, plan_.rounds);
    if (rounds == before) continue;  // with few rounds two rungs can coincide
    if (before > 0) alive = best_of_neighbours(std::move(alive));
    before = rounds;
    if (alive.empty() || !advance(alive, rounds)) return;
  }
  const bool any = best_ && best_->beyond != Trial::Beyond::grew;
  if (!std::isinf(alive.front()->score) && (!any || better(alive.front(), best_)))
    best_ = alive.front();
}

// Enough for the best three; few runs can spare one.
double Halving::reserve() const {
  return plan_.hold ? std::clamp(std::floor(plan_.runs / 10), 1.0, 3.0) : 0;
}

// Runs a full run on for as many rounds again, unless that was done before.
bool Halving::holds(Trial& trial) {
  if (trial.beyond == Trial::Beyond::unknown) {
    const double score = trial.score;
    checked_at_ = cost();
    std::vector<Trial*> alone{&trial};
    for (const double at : looks) {
      const std::uint32_t rounds = rounds_at(at, plan_.rounds);
      if (rounds == trial.rounds) continue;  // a full run of one round
      if (!advance(alone, rounds)) return false;
      if (std::isinf(trial.score)) break;
    }
    trial.beyond = std::isinf(trial.score) ? Trial::Beyond::grew : Trial::Beyond::held;
    trial.score = score;
    careful_ = careful_ || trial.beyond == Trial::Beyond::grew;
  }
  return trial.beyond == Trial::Beyond::held;
}

// Makes the best trial one that holds, as far as the budget goes. If all grew, the best of these.
void Halving::settle(double radius) {
  while (plan_.hold && best_->beyond == Trial::Beyond::unknown && left() >= 1) {
    if (holds(*best_) || stopped_) return;
    if (Trial* next = best_but_for_those_that_grew(radius)) {
      best_ = next;
      continue;
    }
    for (const auto& t : trials_)
      if (t->beyond == Trial::Beyond::grew && better(t.get(), best_)) best_ = t.get();
  }
}

// Neighbours of a trial that grew would grow, too: they are passed over unless they have held.
Trial* Halving::best_but_for_those_that_grew(double radius) const {
  const bool must_have_held = left() < 1;  // nothing is left to find out
  const auto grew = [](const auto& t) { return t->beyond == Trial::Beyond::grew; };
  const auto beside_one = [&](const Trial& t) {
    return std::ranges::any_of(trials_, [&](const auto& other) {
      return grew(other) && distance(other->point, t.point) < radius;
    });
  };
  Trial* best = nullptr;
  for (const auto& t : trials_) {
    if (t->rounds < plan_.rounds || std::isinf(t->score) || grew(t)) continue;
    if (must_have_held && t->beyond != Trial::Beyond::held) continue;
    if (t->beyond == Trial::Beyond::unknown && beside_one(*t)) continue;
    if (!best || better(t.get(), best)) best = t.get();
  }
  return best;
}

// Refines the best point by a compass search with full runs only, since short runs favour longer
// steps than long runs do. It searches along the axes first, then along diagonals, because the edge
// of stability is often not parallel to an axis. The radius is halved if neither finds a better
// point.
void Halving::refine() {
  double radius = first_radius;
  for (bool between = false; !stopped_ && left() >= 1 + reserve() && radius > 1e-3;) {
    if (cost() - checked_at_ >= between_checks) settle(radius / 2);
    if (stopped_ || left() < 1 + reserve()) return;
    const Trial* before = best_;
    std::vector<Trial*> star = around(*best_, radius, between);
    // Each point costs a full run: take no more of them than the budget allows.
    star.resize(std::min(star.size(), static_cast<std::size_t>(left() - reserve() + 1e-9)));
    ++brackets_;
    if (!star.empty() && !advance(star, plan_.rounds)) return;
    for (Trial* t : star) {
      const bool grew = best_->beyond == Trial::Beyond::grew;
      if (best_ != before || stopped_ || std::isinf(t->score) || !(grew || better(t, best_))) break;
      if (!careful_ || (left() >= 1 && holds(*t))) best_ = t;
    }
    if (best_ == before && between) {
      settle(radius / 2);
      if (best_->beyond == Trial::Beyond::grew) return;  // no neighbour holds
      if (best_ == before) radius /= 2;
    }
    between = best_ == before && !between;
  }
}

// Listed numbers are tried one value further; values without an order are left as they are.
std::vector<Trial*> Halving::around(const Trial& centre, double radius, bool between) {
  std::vector<Trial*> star;
  const auto is_range = [&](std::size_t i) { return listed(i).values == 0; };
  std::size_t first = 0;
  while (first < plan_.dimensions && !is_range(first)) ++first;
  for (std::size_t i = 0; i < plan_.dimensions; ++i) {
    if (between ? !is_range(i) : !is_range(i) && !listed(i).ordered) continue;
    for (const double side : {-1.0, 1.0}) {
      std::vector<double> point = centre.point;
      for (std::size_t k = 0; k < point.size(); ++k) {
        const double step =
            side * (is_range(k) ? radius : 1 / static_cast<double>(listed(k).values));
        if (between && is_range(k)) point[k] += k == i && i > first ? -step : step;
        if (!between && k == i) point[k] += step;
      }
      if (allows_(point) && !tried(point, radius / 10)) star.push_back(add(std::move(point)));
    }
  }
  return star;
}

// True if the result of a full run is known within `close` of the point. Without this check a point
// that is moved back to the edge of the allowed range would be tried again and again.
bool Halving::tried(std::span<const double> point, double close) const {
  return std::ranges::any_of(trials_, [&](const auto& t) {
    if (t->rounds < plan_.rounds && !(t->rounds > 0 && std::isinf(t->score))) return false;
    return distance(t->point, point) < close;
  });
}

Trial* Halving::add(std::vector<double> point) {
  trials_.push_back(
      std::make_unique<Trial>(Trial{trials_.size(), brackets_, std::move(point), 0, INFINITY}));
  return trials_.back().get();
}

void Halving::refine_and_settle() {
  settle(first_radius / 2);
  if (!stopped_) refine();
  if (!stopped_) settle(0);
}

const Trial* Halving::search() {
  const auto none_holds = [&] { return !best_ || best_->beyond == Trial::Beyond::grew; };
  bracket(affordable(share * plan_.runs, left() - reserve(), plan_), 0);
  if (best_ && !stopped_) refine_and_settle();
  // If no trial survived, every step was too long: try again with shorter steps.
  for (int shorter = 1;
       shorter <= 3 && none_holds() && !stopped_ && cost_of(smallest) <= left() - reserve();
       ++shorter) {
    bracket(affordable(left() / 2, left() - reserve(), plan_), shorter);
    if (best_ && !stopped_) refine_and_settle();
  }
  return stopped_ ? nullptr : best_;
}

}  // namespace ticopd
