#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

// Three data blocks with the last result of each trial: those dropped after few rounds, those
// dropped after more rounds, and full runs.
std::string datablocks(const std::vector<TrialResult>& results, const Tuned& tuned,
                       const std::vector<std::string>& axes, bool& positive) {
  std::map<std::size_t, const TrialResult*> last;
  for (const TrialResult& r : results)
    if (const auto at = last.find(r.trial); at == last.end() || at->second->rounds < r.rounds)
      last[r.trial] = &r;
  std::string blocks[3], best;
  for (const auto& [id, r] : last) {
    if (!std::isfinite(r->metric)) continue;
    std::string line;
    for (const std::string& axis : axes) line += fmt::format("{} ", r->values.at(axis));
    line += fmt::format("{}\n", r->metric);
    positive = positive && r->metric > 0;
    const double share = static_cast<double>(r->rounds) / tuned.rounds;
    blocks[share < 0.2 ? 0 : share < 1 ? 1 : 2] += line;
    if (r->rounds == tuned.rounds && r->values == tuned.values) best = line;
  }
  std::string text;
  const char* names[] = {"$few", "$more", "$full"};
  for (int i = 0; i < 3; ++i) text += fmt::format("{} << EOD\n{}EOD\n", names[i], blocks[i]);
  return text + fmt::format("$best << EOD\n{}EOD\n", best);
}

}  // namespace

std::string draw_search(const std::filesystem::path& folder, const Tuned& tuned,
                        const std::atomic<bool>* stop) {
  const json search = parse_json(read_file(folder / "search.json"));
  std::vector<std::string> axes;
  for (const json& axis : search.is_object() ? search.value("axes", json()) : json())
    axes.push_back(axis.is_string() ? axis.get<std::string>() : std::string());
  if (std::ranges::any_of(axes, [&](auto& a) { return !tuned.values.contains(a); }) || axes.empty())
    throw FormatError((folder / "search.json").string() + ": is not a search");
  TrialLog log(folder / "trials.csv", axes, tuned.metric);
  log.load();
  bool positive = true;
  std::string script = datablocks(log.results(), tuned, axes, positive);
  script += fmt::format(
      "set multiplot layout 1,{}\nset logscale x\nset format x '10^{{%T}}'\nset grid lc '#cccccc' "
      "lw 0.5\nset key top left reverse Left samplen 0.8\n{}",
      axes.size(), positive ? "set logscale y\n" : "");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t x = i + 1, y = axes.size() + 1;
    script += fmt::format("set xlabel {} noenhanced\n", gnuplot_text(axes[i]));
    script +=
        i == 0 ? fmt::format("set ylabel {} noenhanced\n", gnuplot_text(metric_title(tuned.metric)))
               : "unset ylabel\nunset key\n";
    script += fmt::format(
        "plot $few u {0}:{1} w p pt 6 ps 0.4*mark lc '#56B4E9' t '1/16 of the rounds', "
        "$more u {0}:{1} w p pt 4 ps 0.55*mark lc '#E69F00' t '1/4', "
        "$full u {0}:{1} w p pt 7 ps 0.7*mark lc '#0072B2' t 'all', "
        "$best u {0}:{1} w p pt 3 ps 1.6*mark lw 1.5 lc '#D55E00' t 'chosen'\n",
        x, y);
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
