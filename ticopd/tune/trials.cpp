#include "ticopd/tune/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

#include "ticopd/error.hpp"
#include "ticopd/system/clock.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

std::string number(double v) {
  return std::isnan(v) ? "nan" : fmt::format("{}", v);
}

std::string_view status_of(const TrialResult& result) {
  return std::isnan(result.metric) ? "diverged" : "finished";
}

}  // namespace

TrialLog::TrialLog(std::filesystem::path file, std::vector<std::string> axes, std::string metric)
    : file_(std::move(file)), axes_(std::move(axes)), metric_(std::move(metric)) {}

std::string TrialLog::header() const {
  return fmt::format("bracket,trial,iterations,spent,{},{},bits_payload,rounds,status",
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
    std::vector<double> cells;
    std::istringstream parts(line.substr(0, line.rfind(',')));
    for (std::string cell; std::getline(parts, cell, ',');) {
      double v = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), v);
      if (error != std::errc() || end != cell.data() + cell.size()) throw damaged();
      cells.push_back(v);
    }
    const auto counts = [](double v) { return v >= 0 && v <= 0xffffffff && v == std::floor(v); };
    if (cells.size() != 7 + axes_.size() || !counts(cells.back()) ||
        !std::ranges::all_of(cells.begin(), cells.begin() + 4, counts))
      throw damaged();
    TrialResult r{.trial = static_cast<std::size_t>(cells[1]),
                  .bracket = static_cast<std::size_t>(cells[0]),
                  .rounds = static_cast<std::uint32_t>(cells[2]),
                  .spent = static_cast<std::uint32_t>(cells[3]),
                  .values = {},
                  .metric = cells[4 + axes_.size()],
                  .bits_payload = cells[5 + axes_.size()],
                  .made = static_cast<std::uint32_t>(cells[6 + axes_.size()])};
    for (std::size_t i = 0; i < axes_.size(); ++i) r.values[axes_[i]] = cells[4 + i];
    const std::string_view status = std::string_view(line).substr(line.rfind(',') + 1);
    if (status != status_of(r)) throw damaged();
    const std::pair key{r.rounds, r.trial};
    if (!by_trial_.emplace(key, std::move(r)).second) throw damaged();  // the second of its kind
  }
}

std::optional<TrialResult> TrialLog::find(std::size_t trial, std::uint32_t rounds) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_trial_.find({rounds, trial});
  if (found == by_trial_.end()) return std::nullopt;
  return found->second;
}

void TrialLog::add(TrialResult result) {
  {
    const std::lock_guard lock(mutex_);
    const std::pair key{result.rounds, result.trial};
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
    for (const std::string& axis : axes_) text += number(r.values.at(axis)) + ",";
    text += fmt::format("{},{},{},{}\n", number(r.metric), number(r.bits_payload), r.made,
                        status_of(r));
  }
  write_atomically(file_, text);
}

}  // namespace ticopd
