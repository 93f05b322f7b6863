#include "ticopd/report/figure_panels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/error.hpp"
#include "ticopd/report/axis.hpp"
#include "ticopd/report/swept.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {
namespace {

// The bits until the first target, and the target's metric at the end.
void add_swept_panels(std::span<const Series> runs, std::span<const Group> groups,
                      const ReportOptions& report, std::vector<FigurePanel>& panels) {
  if (report.sweep.empty() || report.targets.empty()) return;
  const Target& target = report.targets.front();
  const std::string& key = report.sweep.front();
  for (const auto kind : {FigurePanel::Kind::bits_to, FigurePanel::Kind::end}) {
    const FigurePanel panel{kind, target.metric, key, target.value};
    if (!swept_panel(runs, groups, panel, report.band).empty()) panels.push_back(panel);
  }
}

}  // namespace

ChosenPanels choose_panels(std::span<const Series> runs, std::span<const Group> groups,
                           std::span<const Curve> curves, const FigureOptions& options,
                           const ReportOptions& report) {
  ChosenPanels chosen;
  std::vector<FigurePanel>& panels = chosen.panels;
  const auto has_values = [&](const FigurePanel& panel) {
    const Axis x = x_axis(curves, panel.x, options.axis(panel.x));
    const AxisWish scale{options.axis(panel.metric).log, {}, {}};
    return !y_axis(curves, panel.metric, panel.x, x, scale).empty();
  };
  if (!options.panels.empty()) {
    for (const FigurePanel& panel : options.panels)
      if (panel.kind != FigurePanel::Kind::curves || has_values(panel)) {
        panels.push_back(panel);
        if (panel.kind != FigurePanel::Kind::curves && panel.x.empty())
          panels.back().x = report.sweep.front();
      }
    if (panels.empty())
      throw ConfigError("figure.panels: no run has a value to draw in any of these panels");
    return chosen;
  }
  std::vector<std::string> metrics;
  for (const MetricInfo& metric : metric_table())
    if (!metric.panel.empty() &&
        has_values({FigurePanel::Kind::curves, metric.column, report.bits}))
      metrics.push_back(metric.column);
  if (options.usual > 0) {
    std::vector<std::string> first;
    for (const char* metric :
         {"loss_max", "loss_local", "accuracy_min", "grad_norm2_max", "consensus"})
      if (std::ranges::find(metrics, metric) != metrics.end()) first.emplace_back(metric);
    first.resize(std::min(first.size(), options.usual));
    for (const std::string& metric : first)
      panels.push_back({FigurePanel::Kind::curves, metric, report.bits});
    add_swept_panels(runs, groups, report, panels);
    return chosen;
  }
  chosen.usual = metrics.size();
  for (const std::string& metric : metrics)
    for (const std::string& x : {std::string("iteration"), report.bits})
      panels.push_back({FigurePanel::Kind::curves, metric, x});
  add_swept_panels(runs, groups, report, panels);
  return chosen;
}

std::string title_of(const FigurePanel& panel) {
  const MetricInfo* metric = find_metric(panel.metric);
  const std::string name(metric->panel.empty() ? metric->title : metric->panel);
  if (panel.kind == FigurePanel::Kind::end) return name + " at the end";
  if (panel.kind == FigurePanel::Kind::bits_to)
    return fmt::format("Mbit to {} {:g}", name, panel.value);
  return name;
}

std::string x_title_of(const FigurePanel& panel) {
  if (panel.kind != FigurePanel::Kind::curves) return panel.x;
  if (panel.x == "iteration") return "iterations";
  if (panel.x == "bits_paper") return "bits per agent (paper's count)";
  if (panel.x == "bits_link") return "bits per agent (all links)";
  return panel.x == "bits_payload" ? "bits per agent" : std::string(metric_title(panel.x));
}

}  // namespace ticopd
