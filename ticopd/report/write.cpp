#include <fmt/format.h>

#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/report/figure.hpp"
#include "ticopd/report/page.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {

namespace fs = std::filesystem;

std::span<const std::string_view> bits_names() {
  static constexpr std::string_view names[] = {"bits_paper", "bits_payload", "bits_link"};
  return names;
}

Written write_report(const fs::path& folder, std::span<const Series> runs,
                     const ReportOptions& options) {
  if (runs.empty()) throw FormatError("no run to report");
  refuse_same_labels(runs);
  for (const Target& t : options.targets) require_metric("target", t.metric);
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
  std::string no_figure;
  try {
    draw_figure(runs, here.bits, folder / "figure", here.stop);
    for (const char* name : {"figure.svg", "figure.pdf", "figure.png"})
      written.files.push_back(folder / name);
  } catch (const DiskError& e) {  // table and page work without gnuplot
    no_figure = e.what();
  } catch (const UnavailableError& e) {
    no_figure = e.what();
  }
  if (!no_figure.empty())
    written.missing.push_back(fmt::format("figure.svg, figure.pdf, figure.png: {}", no_figure));
  if (const std::string html = page(report_json(runs, here)); !html.empty())
    write("report.html", html);
  else
    written.missing.emplace_back(
        "report.html: the page is not in this build (npm could not build web/)");
  return written;
}

}  // namespace ticopd
