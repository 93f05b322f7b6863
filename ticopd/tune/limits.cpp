#include "ticopd/tune/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ticopd/error.hpp"
#include "ticopd/experiment/analysis.hpp"

namespace ticopd {

using nlohmann::json;

json theory_of(const Config& answer, const PrepareOptions& options,
               const std::atomic<bool>* stop) try {
  // A program's gradients may be slow, as a GPU's problem is on the host; this takes hundreds.
  if (options.external || options.device == Device::cuda) return {};
  AnalysisOptions asked;
  asked.prepare = options;
  asked.prepare.say = {};
  asked.prepare.device = Device::cpu;
  asked.stop = stop;
  json tree = answer.tree();
  tree["network"]["transport"] = "none";
  const Analysis s = analyse(Config::from_json(tree, answer.folder()), asked);
  json found = {{"L", s.L},
                {"L_of_f", s.L_of_f},
                {"lambda_max", s.rho_1},
                {"contracts", s.delta_bound.has_value()},
                {"limits", json::array()}};
  for (const Analysis::Limit& limit : s.limits)
    found["limits"].push_back({{"what", limit.what},
                               {"why", limit.why},
                               {"value", limit.value},
                               {"bound", limit.bound},
                               {"holds", limit.holds}});
  return found;
} catch (const Error&) {  // stopped, or no theory for it: the answer is valid without
  return {};
}

std::vector<std::string> limits_in_words(const json& theory) {
  std::vector<std::string> lines;
  if (!theory.is_object()) return lines;
  std::size_t width = 0;
  for (const json& limit : theory["limits"])
    width = std::max(width, limit["what"].get_ref<const std::string&>().size());
  for (const json& limit : theory["limits"])
    lines.push_back(fmt::format(
        "{:<{}}  {:>9.4g} <= {:<4g} {:<8} {}", limit["what"].get<std::string>(), width,
        limit["value"].get<double>(), limit["bound"].get<double>(),
        limit["holds"].get<bool>() ? "holds" : "exceeded", limit["why"].get<std::string>()));
  if (lines.empty())
    lines.push_back(fmt::format(
        "L = {:.4g} of the steepest f_i, {:.4g} of f: gradient descent needs steps of at most "
        "{:.4g} and {:.4g}",
        theory["L"].get<double>(), theory["L_of_f"].get<double>(), 2 / theory["L"].get<double>(),
        2 / theory["L_of_f"].get<double>()));
  return lines;
}

}  // namespace ticopd
