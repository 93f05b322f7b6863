#include "ticopd/tune/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

std::string number(double v) {
  return std::isnan(v) ? "nan" : fmt::format("{}", v);
}

std::string_view status_of(const TrialResult& result) {
  return std::isnan(result.metric) ? "diverged" : result.grew ? "grew" : "finished";
}

// A word of a list (space.cpp allows no commas and quotes in it), or a number; empty for a key that
// the chosen kind does not use.
std::string cell_of(const TriedValues& values, const std::string& axis) {
  const auto at = values.find(axis);
  if (at == values.end()) return "";
  if (at->second.is_number()) return number(at->second.get<double>());
  return at->second.is_string() ? at->second.get<std::string>() : at->second.dump();
}

nlohmann::json value_in(const std::string& cell) {
  if (cell == "true" || cell == "false") return cell == "true";
  if (const auto v = parse_number<double>(cell)) return *v;
  return cell;
}

std::vector<std::string> split_trial(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream parts(line + ",");  // else an empty cell at the end would be lost
  for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
  return cells;
}

// The cells of a line, one after the other.
class TrialCells {
 public:
  explicit TrialCells(const std::string& line) : cells_(split_trial(line)) {}

  std::size_t size() const { return cells_.size(); }
  bool fine() const { return fine_; }
  const std::string& text() { return cells_[at_++]; }

  double real() {
    const std::string& cell = text();
    double v = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), v);
    fine_ = fine_ && error == std::errc() && end == cell.data() + cell.size();
    return v;
  }

  template <class Whole>
  Whole whole() {
    const std::string& cell = text();
    Whole v = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), v);
    fine_ = fine_ && error == std::errc() && end == cell.data() + cell.size();
    return v;
  }

 private:
  std::vector<std::string> cells_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

}  // namespace

TrialLog::TrialLog(std::filesystem::path file, std::vector<std::string> axes, std::string metric)
    : file_(std::move(file)), axes_(std::move(axes)), metric_(std::move(metric)) {}

std::string TrialLog::header() const {
  return fmt::format(
      "bracket,trial,iterations,spent,{},{},bits_payload,rounds,status,seed,at_end,loss,grad_norm2,"
      "accuracy",
      fmt::join(axes_, ","), metric_);
}

void TrialLog::load() {
  if (!std::filesystem::exists(file_)) return;
  std::istringstream in(read_file(file_));
  std::string line;
  std::getline(in, line);
  if (line != header())
    throw FormatError(fmt::format("{}:1: expected the header {}", file_.string(), header()));
  for (std::size_t at = 2; std::getline(in, line); ++at) {
    const auto damaged = [&] {
      return FormatError(fmt::format("{}:{}: is not a trial of this search", file_.string(), at));
    };
    TrialCells cells(line);
    if (cells.size() != 13 + axes_.size()) throw damaged();
    TrialResult r;
    r.bracket = cells.whole<std::uint32_t>();
    r.trial = cells.whole<std::uint32_t>();
    r.rounds = cells.whole<std::uint32_t>();
    r.spent = cells.whole<std::uint32_t>();
    for (const std::string& axis : axes_)
      if (const std::string& cell = cells.text(); trimmed(cell) != cell)
        throw damaged();
      else if (!cell.empty())
        r.values[axis] = value_in(cell);
    r.metric = cells.real();
    r.bits_payload = cells.real();
    r.made = cells.whole<std::uint32_t>();
    const std::string status = cells.text();
    r.grew = status == "grew";
    r.seed = cells.whole<std::uint64_t>();
    for (double* v : {&r.at_end, &r.loss, &r.grad_norm2, &r.accuracy}) *v = cells.real();
    if (!cells.fine() || status != status_of(r)) throw damaged();
    const Key key{r.rounds, r.trial, r.seed};
    if (!by_trial_.emplace(key, std::move(r)).second) throw damaged();  // the second of its kind
  }
}

std::optional<TrialResult> TrialLog::find(std::size_t trial, std::uint32_t rounds,
                                          std::uint64_t seed) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_trial_.find({rounds, trial, seed});
  if (found == by_trial_.end()) return std::nullopt;
  return found->second;
}

void TrialLog::add(TrialResult result) {
  {
    const std::lock_guard lock(mutex_);
    const Key key{result.rounds, result.trial, result.seed};
    by_trial_[key] = std::move(result);
    if (seconds_now() - published_at_ < 1) return;  // the whole file is rewritten each time
    published_at_ = seconds_now();
  }
  publish();
}

std::vector<TrialResult> TrialLog::results() const {
  const std::lock_guard lock(mutex_);
  std::vector<TrialResult> all;
  for (const auto& [key, result] : by_trial_) all.push_back(result);
  std::ranges::stable_sort(all, {}, &TrialResult::bracket);
  return all;
}

void TrialLog::publish() const {
  static std::mutex writing;  // one thread writes the file at a time
  const std::lock_guard lock(writing);
  std::string text = header() + "\n";
  for (const TrialResult& r : results()) {
    text += fmt::format("{},{},{},{},", r.bracket, r.trial, r.rounds, r.spent);
    for (const std::string& axis : axes_) text += cell_of(r.values, axis) + ",";
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", number(r.metric), number(r.bits_payload),
                        r.made, status_of(r), r.seed, number(r.at_end), number(r.loss),
                        number(r.grad_norm2), number(r.accuracy));
  }
  write_atomically(file_, text);
}

}  // namespace ticopd
