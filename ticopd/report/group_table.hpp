#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "ticopd/report/block.hpp"
#include "ticopd/report/report.hpp"

// The parts of tables and CSV files that say how the runs of a group lie together.
namespace ticopd {

// Of summary.csv: columns behind all others, their cells for a run, and the rows of the groups
// below those of the runs. `shown`: the numbers of the metrics among column_names().
void append_group_heads(Cells& head, const ReportOptions& options);
void append_group_cells(Cells& cells, const Series& run, const ReportOptions& options);
std::string group_rows(std::span<const Series> runs, std::span<const std::size_t> shown,
                       const ReportOptions& options);

// groups.csv: a line for each group and round, with the middle and both ends of every metric.
std::string groups_csv(std::span<const Series> runs, const ReportOptions& options);

// The table for a terminal: a line for each group.
std::string group_tables(std::span<const Series> runs, const ReportOptions& options,
                         std::size_t width);

// A line for each run that has not finished; few of them if there are many.
std::string unfinished_lines(std::span<const Series> runs, std::size_t width);

// Numbers as the tables have them: as short as they can be read back; for people.
std::string shortest(const std::optional<double>& v);
std::string amount(double v);

}  // namespace ticopd
