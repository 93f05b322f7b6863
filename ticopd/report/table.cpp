#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/report/block.hpp"
#include "ticopd/report/group_table.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

std::string figure(const std::optional<double>& v, const char* format) {
  if (!v) return "-";
  return std::isnan(*v) ? "nan" : fmt::format(fmt::runtime(format), *v);
}

// The figures at the end that at least one of the runs has.
struct FinalFigure {
  const char* head;
  const char* column;
  const char* format;
};
std::vector<FinalFigure> final_figures(std::span<const Series> runs) {
  std::vector<FinalFigure> all = {{"loss", "loss_max", "{:.4g}"},
                                  {"local loss", "loss_local", "{:.4g}"},
                                  {"gradient²", "grad_norm2_max", "{:.3g}"},
                                  {"consensus", "consensus", "{:.3g}"},
                                  {"accuracy", "accuracy_min", "{:.4f}"}};
  std::erase_if(all, [&](const FinalFigure& f) {
    return std::ranges::none_of(runs, [&](const Series& run) { return run.has(f.column); });
  });
  return all;
}

Block final_block(std::span<const Series> runs) {
  const std::vector<FinalFigure> figures = final_figures(runs);
  Block block;
  for (const FinalFigure& f : figures) block.heads.emplace_back(f.head);
  block.heads.insert(block.heads.end(), {"Mbit", "seconds"});
  for (const Series& run : runs) {
    Cells cells;
    for (const FinalFigure& f : figures)
      cells.push_back(figure(run.column(f.column).back(), f.format));
    cells.push_back(amount(run.column("bits_payload").back().value_or(0) / 1e6));
    cells.push_back(amount(run.column("seconds").back().value_or(0)));
    block.labels.push_back(plain(run.label));
    block.rows.push_back(std::move(cells));
  }
  return block;
}

Block target_block(std::span<const Series> runs, std::span<const Target> targets) {
  Block block;
  for (const Target& t : targets) {
    block.heads.insert(block.heads.end(), {"iterations", "Mbit", "seconds"});
    block.spans.emplace_back(
        fmt::format("{} {} {}", t.metric, higher_is_better(t.metric) ? ">=" : "<=", t.value), 3);
  }
  for (const Series& run : runs) {
    Cells cells;
    for (const Target& t : targets) {
      const auto r = reached(run, t);
      if (r)
        cells.insert(cells.end(),
                     {fmt::format("{}", r->iteration), amount(r->megabits), amount(r->seconds)});
      else
        cells.insert(cells.end(), {"-", "-", "-"});
    }
    block.labels.push_back(plain(run.label));
    block.rows.push_back(std::move(cells));
  }
  return block;
}

}  // namespace

std::string summary_csv(std::span<const Series> runs, const ReportOptions& options) {
  Cells head = {"label", "folder", "status", "algorithm", "codec", "rate"};
  const std::vector<std::size_t> shown = shown_columns(runs);
  for (const std::size_t c : shown) head.emplace_back(column_names()[c]);
  head.emplace_back("digest");
  for (const Target& t : options.targets)
    for (const char* unit : {"iteration", "megabits", "seconds"})
      head.push_back(fmt::format("{}_{}_{}", t.metric, t.value, unit));
  const bool grouped = has_groups(runs);
  if (grouped) append_group_heads(head, options);
  std::string text = fmt::format("{}\n", fmt::join(head, ","));
  for (const Series& run : runs) {
    Cells cells = {run.label, folder_name(run, options), run.status(), run.algorithm(),
                   run.codec()};
    for (std::string& cell : cells) cell = csv_cell(cell);
    cells.push_back(shortest(run.rate()));
    for (const std::size_t c : shown) cells.push_back(shortest(run.columns[c].back()));
    cells.push_back(csv_cell(run.word("/digest")));
    for (const Target& t : options.targets) {
      const auto r = reached(run, t);
      if (r)
        cells.insert(cells.end(), {fmt::format("{}", r->iteration), shortest(r->megabits),
                                   shortest(r->seconds)});
      else
        cells.insert(cells.end(), {"", "", ""});
    }
    if (grouped) append_group_cells(cells, run, options);
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return grouped ? text + group_rows(runs, shown, options) : text;
}

std::string summary_table(std::span<const Series> runs, const ReportOptions& options,
                          std::size_t width) {
  if (has_groups(runs)) return group_tables(runs, options, width);
  std::string text = "At the end (worst agent; Mbit sent per agent, as encoded):\n";
  text += to_text(final_block(runs), width);
  text += unfinished_lines(runs, width);
  constexpr std::size_t side_by_side = 2;
  for (std::size_t t = 0; t < options.targets.size(); t += side_by_side) {
    const auto some =
        std::span(options.targets).subspan(t, std::min(side_by_side, options.targets.size() - t));
    text += "\nUntil the target was reached:\n" + to_text(target_block(runs, some), width);
  }
  return text;
}

}  // namespace ticopd
