#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/report/figure.hpp"
#include "ticopd/report/group_table.hpp"
#include "ticopd/report/page.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {

namespace fs = std::filesystem;

std::span<const std::string_view> bits_names() {
  static constexpr std::string_view names[] = {"bits_paper", "bits_payload", "bits_link"};
  return names;
}

namespace {

FigureOptions figure_of(std::span<const Series> runs, const ReportOptions& options) {
  FigureOptions figure = read_figure(options.figure, options.bits);
  std::vector<std::string> names = options.labels;
  for (const Series& run : runs) names.insert(names.end(), {run.label, run.group});
  check_figure(figure, names, options.sweep);
  return figure;
}

}  // namespace

Written write_report(const fs::path& folder, std::span<const Series> runs,
                     const ReportOptions& options) {
  if (runs.empty()) throw FormatError("no run to report");
  refuse_same_labels(runs);
  for (const Target& t : options.targets) require_metric("target", t.metric);
  const FigureOptions figure = figure_of(runs, options);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw DiskError(fmt::format("{}: cannot be created: {}", folder.string(), error.message()));
  ReportOptions here = options;
  here.folder = folder;
  Written written;
  const auto write = [&](const char* name, const std::string& text) {
    write_atomically(folder / name, text);
    written.files.push_back(folder / name);
  };
  // In the folder of a run that goes on they are not left over: it is writing them.
  if (const FolderGlance glance(folder); !glance.in_use()) remove_unfinished(folder);
  write("summary.csv", summary_csv(runs, here));
  if (has_groups(runs)) write("groups.csv", groups_csv(runs, here));
  std::string no_figure;
  std::vector<std::string> pictures;
  for (const std::string& format : figure.formats) pictures.push_back("figure." + format);
  try {
    draw_figure(runs, figure, here, folder / "figure");
    for (const std::string& name : pictures) written.files.push_back(folder / name);
  } catch (const DiskError& e) {  // table and page work without gnuplot
    no_figure = e.what();
  } catch (const ConfigError& e) {  // too little room for its text
    no_figure = e.what();
  } catch (const UnavailableError& e) {
    no_figure = e.what();
  }
  if (!no_figure.empty())
    written.missing.push_back(fmt::format("{}: {}", fmt::join(pictures, ", "), no_figure));
  if (const std::string html = page(report_json(runs, here)); !html.empty())
    write("report.html", html);
  else
    written.missing.emplace_back(
        "report.html: the page is not in this build (npm could not build web/)");
  return written;
}

}  // namespace ticopd
