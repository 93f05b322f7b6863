#include "ticopd/live/feed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/report/page.hpp"

namespace ticopd {
namespace {

using nlohmann::json;
using Steady = std::chrono::steady_clock;

constexpr auto longest_wait = std::chrono::milliseconds(500);
constexpr auto longest_silence = std::chrono::seconds(2);  // a client that has gone is noticed then

std::string event(std::string_view name, const json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, script_json(data));
}

bool same(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() &&
         (!a || std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b));
}

// Whether `now` is `before` with more rows.
bool goes_on(const Series& before, const Series& now) {
  if (before.label != now.label || before.folder != now.folder || before.rows() > now.rows() ||
      before.summary != now.summary)
    return false;
  for (std::size_t c = 0; c < before.columns.size(); ++c)
    if (!std::ranges::equal(before.columns[c],
                            std::span(now.columns[c]).first(before.columns[c].size()), same))
      return false;
  return true;
}

}  // namespace

bool Feed::only_rows_came(const Collection& before, const Collection& now) {
  return before.runs.size() == now.runs.size() && before.missing == now.missing &&
         shown_columns(before.runs) == shown_columns(now.runs) &&
         std::ranges::equal(before.runs, now.runs, goes_on);
}

void Feed::set(const Collection& now, bool running) {
  const std::shared_ptr<const State> before = state();
  auto next = std::make_shared<State>();
  next->collection = now;
  next->running = running;
  next->columns = shown_columns(now.runs);
  next->version = before ? before->version + 1 : 1;
  next->shape = before ? before->shape : 1;
  ReportOptions& options = next->collection.options;
  if (before && only_rows_came(before->collection, now)) {
    options.targets = before->collection.options.targets;  // default targets follow from the rows
  } else {
    if (before) ++next->shape;
    if (options.targets.empty() && !now.runs.empty()) options.targets = default_targets(now.runs);
    if (options.title.empty())
      options.title = now.runs.size() == 1 ? now.runs.front().label : "Live report";
  }
  if (before && next->shape == before->shape) options.title = before->collection.options.title;
  {
    const std::lock_guard lock(mutex_);
    state_ = std::move(next);
  }
  changed_.notify_all();
}

void Feed::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

std::shared_ptr<const Feed::State> Feed::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string Feed::report_of(const State& state) const {
  const std::lock_guard lock(reports_);
  if (report_version_ == state.version) return report_;
  json report = report_json(state.collection.runs, state.collection.options);
  report["live"] = {{"events", "events?token=" + token_},
                    {"report", "report.json?token=" + token_},
                    {"missing", state.collection.missing}};
  report_ = script_json(report);
  report_version_ = state.version;
  return report_;
}

std::string Feed::report() const {
  return report_of(*state());
}

std::string Feed::page() const {
  return page_of(report(), PageKind::served);
}

std::string Feed::events(const State& state, Position& client) const {
  std::string text;
  const std::vector<Series>& runs = state.collection.runs;
  if (client.shape != state.shape) {
    text = fmt::format("event: report\ndata: {}\n\n", report_of(state));
    client.rows.assign(runs.size(), 0);
    for (std::size_t r = 0; r < runs.size(); ++r) client.rows[r] = runs[r].rows();
  } else {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].rows() == client.rows[r]) continue;
      json rows = rows_json(runs[r], state.columns, client.rows[r]);
      rows["run"] = r;
      text += event("rows", rows);
      client.rows[r] = runs[r].rows();
    }
    if (client.sites != state.collection.options.sites)
      text += event("sites", state.collection.options.sites);
  }
  client.sites = state.collection.options.sites;
  client.version = state.version;
  client.shape = state.shape;
  if (state.running) {
    client.told_end = false;
  } else if (!std::exchange(client.told_end, true)) {
    text += event("end", json::object());
  }
  return text;
}

std::optional<std::string> Feed::next(Position& client) const {
  std::shared_ptr<const State> now;
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest_wait,
                      [&] { return closed_ || (state_ && state_->version != client.version); });
    if (closed_) return std::nullopt;
    now = state_;
  }
  std::string text;
  if (now && now->version != client.version) text = events(*now, client);
  if (text.empty() && Steady::now() - client.sent_at > longest_silence) text = ":\n\n";
  if (!text.empty()) client.sent_at = Steady::now();
  return text;
}

}  // namespace ticopd
