#include "ticopd/experiment/agent_history.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "agents.csv";

}  // namespace

void AgentHistory::add(const Metrics& m) {
  if (too_large_ || m.agents.empty()) return;
  unwritten_ = true;
  const auto has_loss = [](const AgentMetrics& a) { return a.loss.has_value(); };
  // The first row decides: a colour must mean the same in all of them.
  if (rows_.metric.empty())
    rows_.metric = std::ranges::all_of(m.agents, has_loss) ? "loss" : "distance2";
  const bool loss = rows_.metric == "loss";
  if (loss && !std::ranges::all_of(m.agents, has_loss)) return;
  if (m.agents.size() * (rows_.iterations.size() + 1) > most_cells) {
    too_large_ = true;
    rows_ = {};
    return;
  }
  rows_.iterations.push_back(m.iteration);
  std::vector<double>& row = rows_.values.emplace_back();
  for (const AgentMetrics& a : m.agents) row.push_back(loss ? *a.loss : a.distance2);
}

void AgentHistory::keep(const fs::path& folder, std::uint32_t up_to_round) {
  rows_ = read(folder).value_or(AgentRows{});
  while (!rows_.iterations.empty() && rows_.iterations.back() > up_to_round) {
    rows_.iterations.pop_back();
    rows_.values.pop_back();
  }
}

void AgentHistory::write(const fs::path& folder) {
  if (!unwritten_) return;
  unwritten_ = false;
  if (rows_.iterations.empty()) {
    std::error_code ignored;
    fs::remove(folder / file_name, ignored);
    return;
  }
  std::string text = "iteration";
  for (std::size_t i = 0; i < rows_.values.front().size(); ++i)
    text += fmt::format(",{}_{}", rows_.metric, i);
  for (std::size_t row = 0; row < rows_.iterations.size(); ++row) {
    text += fmt::format("\n{}", rows_.iterations[row]);
    // Five digits: the page makes colours of them.
    for (const double v : rows_.values[row]) text += fmt::format(",{:.5g}", v);
  }
  write_atomically(folder / file_name, text + '\n');
}

std::optional<AgentRows> AgentHistory::read(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / file_name, error)) return std::nullopt;
  if (fs::file_size(folder / file_name, error) > 40 * most_cells) return std::nullopt;
  const std::string text = read_file(folder / file_name);
  std::string_view left = text, head = take_line(left);
  if (take_cell(head) != "iteration") return std::nullopt;
  AgentRows rows;
  rows.metric = head.starts_with("loss_0") ? "loss" : "distance2";
  const auto agents = static_cast<std::size_t>(std::ranges::count(head, ',')) + 1;
  for (std::size_t i = 0; i < agents; ++i)
    if (take_cell(head) != fmt::format("{}_{}", rows.metric, i)) return std::nullopt;
  while (!left.empty()) {
    std::string_view line = take_line(left);
    const auto round = parse_number<std::uint32_t>(take_cell(line));
    if (!round || (!rows.iterations.empty() && *round <= rows.iterations.back()))
      return std::nullopt;
    rows.iterations.push_back(*round);
    std::vector<double>& row = rows.values.emplace_back();
    while (!line.empty()) {
      const auto value = parse_number<double>(take_cell(line));
      if (!value) return std::nullopt;
      row.push_back(*value);
    }
    if (row.size() != agents) return std::nullopt;
  }
  if (rows.iterations.empty()) return std::nullopt;
  return rows;
}

}  // namespace ticopd
