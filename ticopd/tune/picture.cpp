#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ticopd/error.hpp"
#include "ticopd/report/gnuplot.hpp"
#include "ticopd/report/series.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/json.hpp"
#include "ticopd/tune/trials.hpp"
#include "ticopd/tune/tune.hpp"

namespace ticopd {
namespace {

using nlohmann::json;

// One panel: a searched key.
struct Panel {
  std::string name;
  std::vector<json> words = {};  // of a list; it has no scale, so its values stand side by side

  std::string place_of(const TriedValues& values) const {
    const auto at = values.find(name);
    if (at == values.end()) return "NaN";
    if (words.empty()) return fmt::format("{}", at->second.get<double>());
    return fmt::format("{}", std::ranges::find(words, at->second) - words.begin() + 1);
  }

  std::string scale() const {
    if (words.empty()) return "set logscale x\nset format x '10^{%T}'\nset xtics autofreq\n";
    std::string tics;
    for (std::size_t i = 0; i < words.size(); ++i)
      tics += fmt::format(
          "{}{} {}", i == 0 ? "" : ", ",
          gnuplot_text(words[i].is_string() ? words[i].get<std::string>() : words[i].dump()),
          i + 1);
    return fmt::format("unset logscale x\nset format x '%g'\nset xrange [0.5:{}]\nset xtics ({})\n",
                       static_cast<double>(words.size()) + 0.5, tics);
  }
};

// A range is [low, high, closed] in search.json, everything else a list.
std::vector<Panel> panels_of(const json& search) {
  std::vector<Panel> panels;
  const json axes = search.is_object() ? search.value("axes", json()) : json();
  const json ranges = search.is_object() ? search.value("ranges", json()) : json();
  for (std::size_t i = 0; i < axes.size() && i < ranges.size(); ++i) {
    if (!axes[i].is_string() || !ranges[i].is_array()) return {};
    const json& range = ranges[i];
    const bool is_range = range.size() == 3 && range[0].is_number() && range[2].is_boolean();
    panels.push_back({axes[i], is_range ? std::vector<json>() : std::vector<json>(range)});
  }
  return panels;
}

// TiCoPD's limits as values of one step size, the others being as chosen; nan: none.
double limit_of(const std::string& axis, const Tuned& tuned) {
  const auto value = [&](const char* name) {
    const auto at = tuned.values.find(name);
    return at != tuned.values.end() && at->second.is_number() ? at->second.get<double>() : NAN;
  };
  if (!tuned.theory.is_object() || tuned.theory["limits"].empty()) return NAN;
  if (axis == "alpha") return 2 / tuned.theory["L_of_f"].get<double>();
  if (axis == "theta") return 1 / (value("alpha") * tuned.theory["lambda_max"].get<double>());
  return axis == "eta" ? value("theta") : NAN;
}

// Data blocks with the last result of each trial: those dropped after few rounds, those dropped
// after more rounds, full runs, and full runs that grew when they went on.
std::string datablocks(const std::vector<TrialResult>& results, const Tuned& tuned,
                       std::uint32_t full, const std::vector<Panel>& panels, bool any_reached,
                       bool& positive) {
  std::map<std::pair<std::size_t, std::uint64_t>, const TrialResult*> last;
  std::set<std::size_t> grew;
  for (const TrialResult& r : results) {
    const auto at = last.find({r.trial, r.seed});
    if (r.rounds > full)
      grew.insert(r.grew || std::isnan(r.metric) ? r.trial : SIZE_MAX);
    else if (at == last.end() || at->second->rounds < r.rounds)
      last[{r.trial, r.seed}] = &r;
  }
  std::string blocks[4], best;
  for (const auto& [id, r] : last) {
    const double y = any_reached ? r->metric : r->at_end;
    if (!std::isfinite(y)) continue;
    std::string line;
    for (const Panel& panel : panels) line += panel.place_of(r->values) + " ";
    line += fmt::format("{}\n", y);
    positive = positive && y > 0;
    const double share = static_cast<double>(r->rounds) / full;
    blocks[grew.contains(r->trial) ? 3 : share < 0.2 ? 0 : share < 1 ? 1 : 2] += line;
    if (r->rounds == full && r->values == tuned.values) best += line;
  }
  std::string text;
  const char* names[] = {"$few", "$more", "$full", "$grew"};
  for (int i = 0; i < 4; ++i) text += fmt::format("{} << EOD\n{}EOD\n", names[i], blocks[i]);
  return text + fmt::format("$best << EOD\n{}EOD\n", best);
}

std::string title_of(const std::string& metric, bool any_reached) {
  const std::size_t colon = metric.find(':');
  if (colon == std::string::npos) return std::string(metric_title(metric));
  if (!any_reached)  // how close the trials came
    return std::string(metric_title(metric.substr(colon + 1, metric.find('=') - colon - 1)));
  return (metric.starts_with("bits") ? "bits until " : "iterations until ") +
         metric.substr(colon + 1);
}

}  // namespace

std::string draw_search(const std::filesystem::path& folder, const Tuned& tuned,
                        const std::atomic<bool>* stop) {
  const json search = parse_json(read_file(folder / "search.json"));
  const std::vector<Panel> panels = panels_of(search);
  if (panels.empty() || !search.contains("rounds"))
    throw FormatError((folder / "search.json").string() + ": is not a search");
  std::vector<std::string> axes;
  for (const Panel& panel : panels) axes.push_back(panel.name);
  TrialLog log(folder / "trials.csv", axes, tuned.metric);
  log.load();
  bool positive = true;
  const std::vector<TrialResult> results = log.results();
  const bool any_reached =
      std::ranges::any_of(results, [](const TrialResult& r) { return std::isfinite(r.metric); });
  std::string script = datablocks(results, tuned, search["rounds"].get<std::uint32_t>(), panels,
                                  any_reached, positive);
  script += fmt::format(
      "set multiplot layout 1,{}\nset grid lc '#cccccc' "
      "lw 0.5\nset key top left reverse Left samplen 0.8\n{}",
      axes.size(), positive ? "set logscale y\n" : "");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t x = i + 1, y = axes.size() + 1;
    script += panels[i].scale();
    script += fmt::format("set xlabel {} noenhanced\n", gnuplot_text(axes[i]));
    script += i == 0 ? fmt::format("set ylabel {} noenhanced\n",
                                   gnuplot_text(title_of(tuned.metric, any_reached)))
                     : "unset ylabel\nunset key\n";
    const double limit = limit_of(axes[i], tuned);
    if (std::isfinite(limit))
      script += fmt::format(
          "set arrow 1 from first {0},graph 0 to first {0},graph 1 nohead dt 2 lc '#666666' lw "
          "1.2\n"
          "set label 1 'limit ' at first {0},graph 0.06 right textcolor rgb '#444444'\n",
          limit);
    script += fmt::format(
        "plot $few u {0}:{1} w p pt 6 ps 0.4*mark lc '#56B4E9' t '1/16 of the rounds', "
        "$more u {0}:{1} w p pt 4 ps 0.55*mark lc '#E69F00' t '1/4', "
        "$full u {0}:{1} w p pt 7 ps 0.7*mark lc '#0072B2' t 'all', "
        "$grew u {0}:{1} w p pt 2 ps 0.9*mark lw 1.5 lc '#000000' t 'grew later', "
        "$best u {0}:{1} w p pt 3 ps 1.6*mark lw 1.5 lc '#D55E00' t 'chosen'\n",
        x, y);
    script += "unset arrow 1\nunset label 1\nset xrange [*:*]\n";
  }
  script += "unset multiplot\n";
  try {
    Gnuplot::draw(script, folder / "search", 1.2 + 2.2 * static_cast<double>(axes.size()), 2.6,
                  stop);
  } catch (const DiskError& e) {  // the step sizes are valid without a picture
    return fmt::format("search.svg, search.pdf, search.png: {}", e.what());
  } catch (const UnavailableError& e) {
    return fmt::format("search.svg, search.pdf, search.png: {}", e.what());
  }
  return {};
}

}  // namespace ticopd
