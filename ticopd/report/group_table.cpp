#include "ticopd/report/group_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/sweep.hpp"
#include "ticopd/report/groups.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// What a group's three rows of summary.csv are.
std::vector<const char*> row_names(Band band) {
  if (band == Band::range) return {"median", "smallest", "largest"};
  return {"mean", "mean - deviation", "mean + deviation"};
}

double Spread::*const parts[] = {&Spread::mid, &Spread::low, &Spread::high};

std::string swept_cell(const json& swept, const std::string& key) {
  if (!swept.contains(key)) return {};
  const json& value = swept[key];
  return value.is_number() ? toml_value(value) : csv_cell(value_in_words(value));
}

// How the runs of a group reached a target; those that did not are counted and nothing else.
struct GroupReached {
  std::size_t runs = 0;
  std::optional<Spread> iteration, megabits, seconds;
};
GroupReached reached_by(const Group& group, std::span<const Series> runs, const Target& target,
                        Band band) {
  std::vector<double> iteration, megabits, seconds;
  for (const std::size_t r : group.runs)
    if (const auto reached_at = reached(runs[r], target)) {
      iteration.push_back(reached_at->iteration);
      megabits.push_back(reached_at->megabits);
      seconds.push_back(reached_at->seconds);
    }
  return {iteration.size(), spread_of(iteration, band), spread_of(megabits, band),
          spread_of(seconds, band)};
}

// The last row that all counted runs of a group logged, in one column.
std::optional<Spread> at_end(const Group& group, std::string_view column) {
  const Group::Column& values = group.column(column);
  return values.empty() ? std::nullopt : values.back();
}

std::string digits(double v, int places) {
  if (std::isnan(v)) return "nan";
  return places > 0 ? fmt::format("{:.{}f}", v, places) : fmt::format("{:.3g}", v);
}

std::size_t finished(const Group& group, std::span<const Series> runs) {
  return static_cast<std::size_t>(std::ranges::count_if(
      group.runs, [&](std::size_t r) { return runs[r].status() == "finished"; }));
}

// "TiCoPD, bits = 4": the label, with keys without their table. The room for it is short.
std::string short_label(const Group& group) {
  std::string label = group.label;
  for (const auto& [key, value] : group.swept.items()) {
    const std::size_t at = label.find(", " + key + " = "), dot = key.rfind('.');
    if (at != std::string::npos && dot != std::string::npos) label.erase(at + 2, dot + 1);
  }
  return plain(label);
}

// "0.92..0.95", or "0.01" for plus or minus so much.
std::string ends(const std::optional<Spread>& s, Band band, int places) {
  if (!s) return "-";
  if (band == Band::deviation) return digits(s->high - s->mid, places);
  return fmt::format("{}..{}", digits(s->low, places), digits(s->high, places));
}

std::string middle(const std::optional<Spread>& s, int places) {
  return s ? digits(s->mid, places) : "-";
}

Block end_of_groups(std::span<const Group> groups, std::span<const Series> runs, Band band) {
  struct Shown {
    const char* head;
    const char* column;
    int places;
  };
  std::vector<Shown> all{{"loss", "loss_max", 0},
                         {"local loss", "loss_local", 0},
                         {"accuracy", "accuracy_min", 3},
                         {"consensus", "consensus", 0}};
  std::erase_if(all, [&](const Shown& s) {
    return std::ranges::none_of(groups,
                                [&](const Group& g) { return at_end(g, s.column).has_value(); });
  });
  if (all.size() > 2) all.resize(2);  // more would leave no room for labels
  const bool range = band == Band::range;
  Block block;
  block.heads.emplace_back("runs");
  block.spans.emplace_back("", 1);
  for (const Shown& s : all) {
    block.heads.insert(block.heads.end(), {range ? "median" : "mean", range ? "range" : "+-"});
    block.spans.emplace_back(s.head, 2);
  }
  block.heads.emplace_back("Mbit");
  block.spans.emplace_back("", 1);
  for (const Group& group : groups) {
    const std::size_t ended = finished(group, runs);
    Cells cells{ended == group.runs.size() ? fmt::format("{}", ended)
                                           : fmt::format("{}/{}", ended, group.runs.size())};
    // The numbers of runs that diverged say nothing, and are long.
    const bool lost = runs[group.counted.front()].status() == "diverged";
    for (const Shown& s : all) {
      const auto spread = lost ? std::nullopt : at_end(group, s.column);
      cells.push_back(middle(spread, s.places));
      cells.push_back(ends(spread, band, s.places));
    }
    const auto bits = at_end(group, "bits_payload");
    cells.push_back(bits ? amount(bits->mid / 1e6) : "-");
    block.labels.push_back(short_label(group));
    block.rows.push_back(std::move(cells));
  }
  return block;
}

Block target_of_groups(std::span<const Group> groups, std::span<const Series> runs,
                       const Target& target, Band band) {
  const bool range = band == Band::range;
  const auto number = [](const std::optional<Spread>& s) {
    return s ? amount(s->mid) : std::string("-");
  };
  Block block;
  block.heads = {"reached", "iterations", "Mbit", range ? "range" : "+-", "seconds"};
  block.spans.emplace_back(fmt::format("{} {} {}", target.metric,
                                       higher_is_better(target.metric) ? ">=" : "<=", target.value),
                           block.heads.size());
  for (const Group& group : groups) {
    const GroupReached r = reached_by(group, runs, target, band);
    block.labels.push_back(short_label(group));
    block.rows.push_back({fmt::format("{}/{}", r.runs, group.runs.size()), number(r.iteration),
                          number(r.megabits), ends(r.megabits, band, 0), number(r.seconds)});
  }
  return block;
}

// The number of rounds; also the last logged one if the run stopped between two logged rounds.
std::string how_far(const Series& run) {
  const nlohmann::json& made = run.field("/iterations");
  const std::uint32_t logged = run.last_iteration();
  const std::uint32_t rounds =
      made.is_number_unsigned() ? std::max(logged, made.get<std::uint32_t>()) : logged;
  if (rounds == logged) return fmt::format("{} iterations", rounds);
  return fmt::format("{} iterations (values at iteration {})", rounds, logged);
}

}  // namespace

std::string shortest(const std::optional<double>& v) {
  if (!v) return {};
  return std::isnan(*v) ? "nan" : fmt::format("{}", *v);  // never -nan
}

// Enough digits to compare runs, few enough for a column.
std::string amount(double v) {
  return v >= 99.95 ? fmt::format("{:.0f}", v) : fmt::format("{:.3g}", v);
}

void append_group_heads(Cells& head, const ReportOptions& options) {
  head.insert(head.end(), {"group", "seed", "runs"});
  for (const std::string& key : options.sweep) head.push_back(csv_cell(key));
  for (const Target& t : options.targets)
    head.push_back(fmt::format("{}_{}_reached", t.metric, t.value));
}

void append_group_cells(Cells& cells, const Series& run, const ReportOptions& options) {
  cells.insert(cells.end(), {csv_cell(run.group), fmt::format("{}", run.seed), "1"});
  for (const std::string& key : options.sweep) cells.push_back(swept_cell(run.swept, key));
  for (const Target& t : options.targets) cells.emplace_back(reached(run, t) ? "1" : "0");
}

std::string group_rows(std::span<const Series> runs, std::span<const std::size_t> shown,
                       const ReportOptions& options) {
  std::string text;
  const std::vector<const char*> names = row_names(options.band);
  for (const Group& group : groups_of(runs, options.band)) {
    const Series& first = runs[group.runs.front()];
    for (std::size_t part = 0; part < names.size(); ++part) {
      const auto number = [&](const std::optional<Spread>& s) {
        return s ? shortest((*s).*parts[part]) : std::string();
      };
      Cells cells{csv_cell(fmt::format("{}: {}", group.label, names[part])),
                  "",
                  names[part],
                  csv_cell(first.algorithm()),
                  csv_cell(first.codec()),
                  ""};
      for (const std::size_t c : shown)
        cells.push_back(number(group.rounds.empty() ? std::nullopt : group.columns[c].back()));
      cells.emplace_back("");  // no digest
      Cells counts;
      for (const Target& t : options.targets) {
        const GroupReached r = reached_by(group, runs, t, options.band);
        cells.insert(cells.end(), {number(r.iteration), number(r.megabits), number(r.seconds)});
        counts.push_back(fmt::format("{}", r.runs));
      }
      cells.insert(cells.end(),
                   {csv_cell(group.label), "", fmt::format("{}", group.counted.size())});
      for (const std::string& key : options.sweep) cells.push_back(swept_cell(group.swept, key));
      cells.insert(cells.end(), counts.begin(), counts.end());
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return text;
}

std::string groups_csv(std::span<const Series> runs, const ReportOptions& options) {
  Cells head{"group"};
  for (const std::string& key : options.sweep) head.push_back(csv_cell(key));
  head.insert(head.end(), {"iteration", "runs"});
  std::vector<std::size_t> metrics = shown_columns(runs);
  std::erase(metrics, 0u);  // the iteration
  for (const std::size_t c : metrics)
    for (const char* part : {"mid", "low", "high"})
      head.push_back(fmt::format("{}_{}", column_names()[c], part));
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (const Group& group : groups_of(runs, options.band)) {
    Cells begin{csv_cell(group.label)};
    for (const std::string& key : options.sweep) begin.push_back(swept_cell(group.swept, key));
    for (std::size_t row = 0; row < group.rounds.size(); ++row) {
      Cells cells = begin;
      cells.push_back(fmt::format("{}", group.rounds[row]));
      cells.push_back(fmt::format("{}", group.counted.size()));
      for (const std::size_t c : metrics)
        for (const auto part : parts) {
          const std::optional<Spread>& s = group.columns[c][row];
          cells.push_back(s ? shortest((*s).*part) : std::string());
        }
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return text;
}

std::string group_tables(std::span<const Series> runs, const ReportOptions& options,
                         std::size_t width) {
  const std::vector<Group> groups = groups_of(runs, options.band);
  std::string text = fmt::format(
      "At the end, {} of the runs of a group\n(worst agent; Mbit sent per agent, as encoded):\n",
      options.band == Band::range ? "median and range" : "mean and sample deviation");
  text += to_text(end_of_groups(groups, runs, options.band), width);
  text += unfinished_lines(runs, width);
  for (const Target& target : options.targets)
    text += "\nUntil the target was reached, of the runs that did:\n" +
            to_text(target_of_groups(groups, runs, target, options.band), width);
  return text;
}

std::string unfinished_lines(std::span<const Series> runs, std::size_t width) {
  constexpr std::size_t most = 20;
  std::string text;
  std::size_t count = 0;
  for (const Series& run : runs)
    if (run.status() != "finished" && ++count <= most)
      text +=
          shortened(fmt::format("  {} after {}: {}", run.status(), how_far(run), plain(run.label)),
                    width) +
          "\n";
  if (count > most) text += fmt::format("  ... and {} more, see summary.csv\n", count - most);
  return text;
}

}  // namespace ticopd
