#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace ticopd {

// The rounds of a run whose config or program names none.
inline constexpr std::uint32_t default_iterations = 1000;

// A step size as a function of the round: constant, c / sqrt(t + t0), c / (t + t0), or lowered by a
// factor every so many rounds.
class Schedule {
 public:
  enum class Kind { unset, constant, inverse_sqrt, inverse, step, derived };

  Schedule() = default;
  Schedule(double value) : kind_(Kind::constant), c_(value) {}  // so that {.alpha = 0.1} reads well

  static Schedule inverse_sqrt(double c, double t0) { return {Kind::inverse_sqrt, c, t0, 1}; }
  static Schedule inverse(double c, double t0) { return {Kind::inverse, c, t0, 1}; }
  static Schedule step(double c, double factor, double every) {
    return {Kind::step, c, every, factor};
  }
  static Schedule derived(std::function<double(std::uint32_t)> from) {
    Schedule s(Kind::derived, 0, 0, 1);
    s.from_ = std::move(from);
    return s;
  }

  // The same, so many rounds later: a run that goes on where another one ended.
  Schedule after(std::uint32_t rounds) const {
    Schedule s = *this;
    s.made_ += rounds;
    return s;
  }

  bool is_set() const { return kind_ != Kind::unset; }
  bool is_constant() const { return kind_ == Kind::constant; }

  // As it was made: c, t0 (of a step: `every`) and the factor of a step.
  Kind kind() const { return kind_; }
  double c() const { return c_; }
  double t0() const { return t0_; }
  double factor() const { return factor_; }

  double operator()(std::uint32_t round) const {
    round += made_;
    const double t = round;
    switch (kind_) {
      case Kind::constant: return c_;
      case Kind::inverse_sqrt: return c_ / std::sqrt(t + t0_);
      case Kind::inverse: return c_ / (t + t0_);
      case Kind::step: return c_ * std::pow(factor_, std::floor((t - 1) / t0_));
      case Kind::derived: return from_(round);
      case Kind::unset: break;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  Schedule(Kind kind, double c, double t0, double factor)
      : kind_(kind), c_(c), t0_(t0), factor_(factor) {}

  Kind kind_ = Kind::unset;
  double c_ = 0;
  double t0_ = 0;
  double factor_ = 1;
  std::uint32_t made_ = 0;  // rounds before this run's first
  std::function<double(std::uint32_t)> from_;
};

struct Range {
  double low, high;
  bool low_allowed;
  bool whole = false;
  bool constant = false;  // no schedule: it is read once
};
inline constexpr Range positive{0, std::numeric_limits<double>::infinity(), false};
inline constexpr Range up_to_one{0, 1, false};
inline constexpr Range unit_interval{0, 1, true};
inline constexpr Range at_least_zero{0, std::numeric_limits<double>::infinity(), true};
inline constexpr Range whole_number{1, 1e9, true, true, true};  // 1, 2, 3, ...

// The range in which tuning searches a parameter, evenly in the logarithm. `unit` gives its unit
// from the parameters declared before it and lambda_max(L). As ratios, ranges suit every problem;
// only the first step size depends on how steep the objective is.
template <class Algorithm>
struct Search {
  double low = 0, high = 0;  // none: tuning keeps the parameter as it is
  double (*unit)(const Algorithm& before, double lambda_max) = nullptr;
};

// Declares a parameter, once, in its algorithm's header, for the config reader, the list command,
// tuning and the docs. The default is the member's initializer. Without one the parameter is
// required, unless `derived` says what it follows from.
template <class Algorithm>
struct Parameter {
  std::string_view name;
  Schedule Algorithm::* member;
  Range range;
  std::string_view help;
  Search<Algorithm> search = {};
  std::string_view derived = "";
  bool inverse = false;  // the larger it is, the shorter the step
};

template <class Algorithm>
struct Flag {
  std::string_view name;
  bool Algorithm::* member;
  std::string_view help;
};

// A choice between words, such as the two forms of a method.
template <class Algorithm>
struct Choice {
  std::string_view name;
  std::string_view Algorithm::* member;  // the default is its initializer
  std::array<std::string_view, 2> words;
  std::string_view help;
};

// All parameters of an algorithm at one round, in the run's scalar type: a double inside a float
// map would halve its SIMD width and change its bits.
template <class T, class Algorithm>
auto at(const Algorithm& params, std::uint32_t round) {
  constexpr auto table = Algorithm::parameters();
  std::array<T, table.size()> values;
  for (std::size_t i = 0; i < table.size(); ++i)
    values[i] = static_cast<T>((params.*table[i].member)(round));
  return values;
}

// Warnings of an algorithm about its parameters, once it knows the graph.
using Warnings = std::vector<std::string>;

}  // namespace ticopd
