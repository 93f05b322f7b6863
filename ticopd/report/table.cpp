#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/report/report.hpp"
#include "ticopd/report/text.hpp"

namespace ticopd {
namespace {

using Cells = std::vector<std::string>;

std::string shortest(const std::optional<double>& v) {
  if (!v) return {};
  return std::isnan(*v) ? "nan" : fmt::format("{}", *v);  // never -nan
}

// One block of the terminal's table: labels on the left, number columns on the right.
struct Block {
  Cells labels;
  Cells heads;                                             // of the number columns
  std::vector<std::pair<std::string, std::size_t>> spans;  // title, columns below it
  std::vector<Cells> rows;                                 // numbers, one row per label
};

constexpr std::size_t indent = 2, between = 2;

std::vector<std::size_t> widths(const Block& block) {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < block.heads.size(); ++c) {
    std::size_t width = characters(block.heads[c]);
    for (const auto& row : block.rows) width = std::max(width, characters(row[c]));
    all.push_back(width);
  }
  std::size_t first = 0;
  for (const auto& [title, count] : block.spans) {  // a long title widens its first column
    std::size_t have = between * (count - 1);
    for (std::size_t c = first; c < first + count; ++c) have += all[c];
    if (characters(title) > have) all[first] += characters(title) - have;
    first += count;
  }
  return all;
}

std::string trimmed_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string to_text(const Block& block, std::size_t width) {
  const std::vector<std::size_t> columns = widths(block);
  std::size_t numbers = 0, labels = 0;
  for (const std::size_t w : columns) numbers += between + w;
  for (const std::string& label : block.labels) labels = std::max(labels, characters(label));
  const std::size_t room = width > indent + numbers ? width - indent - numbers : 0;
  labels = std::min(labels, room);
  std::string text;
  if (!block.spans.empty()) {
    std::string line(indent + labels, ' ');
    std::size_t c = 0;
    for (const auto& [title, count] : block.spans) {
      std::size_t span = 0;
      for (const std::size_t end = c + count; c < end; ++c) span += between + columns[c];
      line += padded_left(title, span);
    }
    text += trimmed_end(line);
  }
  const auto line = [&](std::string_view label, const Cells& cells) {
    std::string out = std::string(indent, ' ') + padded_right(label, labels);
    for (std::size_t c = 0; c < cells.size(); ++c)
      out += std::string(between, ' ') + padded_left(cells[c], columns[c]);
    text += trimmed_end(out);
  };
  line("", block.heads);
  const Cells shown = shortened_apart(block.labels, labels);
  for (std::size_t r = 0; r < shown.size(); ++r) line(shown[r], block.rows[r]);
  return text;
}

std::string figure(const std::optional<double>& v, const char* format) {
  if (!v) return "-";
  return std::isnan(*v) ? "nan" : fmt::format(fmt::runtime(format), *v);
}

// Enough digits to compare runs, few enough for a column.
std::string amount(double v) {
  return v >= 99.95 ? fmt::format("{:.0f}", v) : fmt::format("{:.3g}", v);
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

// The number of rounds; also the last logged one if the run stopped between two logged rounds.
std::string how_far(const Series& run) {
  const nlohmann::json& made = run.field("/iterations");
  const std::uint32_t logged = run.last_iteration();
  const std::uint32_t rounds =
      made.is_number_unsigned() ? std::max(logged, made.get<std::uint32_t>()) : logged;
  if (rounds == logged) return fmt::format("{} iterations", rounds);
  return fmt::format("{} iterations (values at iteration {})", rounds, logged);
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
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string summary_table(std::span<const Series> runs, const ReportOptions& options,
                          std::size_t width) {
  std::string text = "At the end (worst agent; Mbit sent per agent, as encoded):\n";
  text += to_text(final_block(runs), width);
  for (const Series& run : runs)
    if (run.status() != "finished")
      text +=
          shortened(fmt::format("  {} after {}: {}", run.status(), how_far(run), plain(run.label)),
                    width) +
          "\n";
  constexpr std::size_t side_by_side = 2;
  for (std::size_t t = 0; t < options.targets.size(); t += side_by_side) {
    const auto some =
        std::span(options.targets).subspan(t, std::min(side_by_side, options.targets.size() - t));
    text += "\nUntil the target was reached:\n" + to_text(target_block(runs, some), width);
  }
  return text;
}

}  // namespace ticopd
