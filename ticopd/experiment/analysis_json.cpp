#include <nlohmann/json.hpp>

#include "ticopd/experiment/analysis.hpp"

namespace ticopd {

using nlohmann::json;

json to_json(const Analysis& s) {
  json j{{"name", s.name},
         {"agents", s.agents},
         {"dimension", s.dimension},
         {"graph", {{"kind", s.graph}, {"rho_1", s.rho_1}, {"rho_2", s.rho_2}, {"M", s.rho_1}}}};
  json& c = j["codec"] = {{"kind", s.codec},
                          {"gain", s.gain},
                          {"relative_error_bound", s.bound.relative},
                          {"delta_bound", nullptr},
                          {"measured",
                           {{"rounds", s.rounds},
                            {"messages", s.measured.messages},
                            {"worst_error", s.measured.worst_error},
                            {"mean_error", s.measured.mean_error},
                            {"delta", nullptr}}}};
  if (s.delta_bound) c["delta_bound"] = *s.delta_bound;
  if (s.measured.messages > 0) c["measured"]["delta"] = s.measured.delta();
  if (!s.diverged.empty()) c["measured"]["diverged"] = s.diverged;
  j["smoothness"] = {{"L", s.L},
                     {"L_of_f", s.L_of_f},
                     {"is", "a lower bound of L: Hessians at these points only"},
                     {"samples_used", s.samples_used},
                     {"samples", s.samples},
                     {"points", json::array()}};
  for (const auto& [round, L, of_f] : s.curvatures)
    j["smoothness"]["points"].push_back({{"round", round}, {"L", L}, {"L_of_f", of_f}});
  j["f_start"] = s.f_start;
  j["algorithm"] = {{"name", s.algorithm}};
  if (!s.steps) {
    j["theorem"] = nullptr;
    j["why_not"] = "Theorem 1 is TiCoPD's";
    return j;
  }
  const Analysis::Steps& p = *s.steps;
  j["algorithm"].update({{"alpha", p.alpha},
                         {"theta", p.theta},
                         {"eta", p.eta},
                         {"beta", p.beta},
                         {"gamma", p.gamma},
                         {"constant", p.constant}});
  j["theorem"] = nullptr;
  for (const Analysis::Bounds& b : s.bounds) {
    json t{{"delta", b.theorem.input().delta},
           {"a", s.a},
           {"delta_tilde", b.theorem.delta_tilde()},
           {"delta_1", b.theorem.delta_1()},
           {"delta_2", b.theorem.delta_2()},
           {"theta_lb", b.theorem.theta_lb()},
           {"alpha_ub", b.alpha_ub},
           {"alpha_ub_for_theta", b.theta},
           {"alpha_ub_at_theta_lb", b.alpha_ub_at_bound},
           {"theta_factor", b.theta_factor},
           {"alpha_factor", b.alpha_factor},
           {"epsilon", s.epsilon},
           {"F_0", nullptr},
           {"rounds", nullptr}};
    if (b.F_0) t["F_0"] = *b.F_0;
    if (b.rounds) t["rounds"] = *b.rounds;
    j[b.of == "bound" ? "theorem" : "theorem_measured"] = std::move(t);
  }
  if (!s.why_not.empty()) j["why_not"] = s.why_not;
  for (const Analysis::Limit& l : s.limits)
    j["limits"].push_back({{"what", l.what},
                           {"why", l.why},
                           {"value", l.value},
                           {"bound", l.bound},
                           {"holds", l.holds}});
  return j;
}

}  // namespace ticopd
