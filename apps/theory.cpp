#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/analysis.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

void line(const std::string& what, const std::string& value, const std::string& note = "") {
  show("  {:<24} {:>12}{}{}\n", what, value, note.empty() ? "" : "   ", note);
}

void line(const std::string& what, double value, const std::string& note = "") {
  line(what, fmt::format("{:.4g}", value), note);
}

void print_graph(const Analysis& s) {
  show("{}: {} agents on a {}, d = {}\n\n", s.name, s.agents, s.graph, s.dimension);
  show("graph\n");
  line("rho_1 = M", s.rho_1, "largest eigenvalue of the Laplacian");
  line("rho_2", s.rho_2, "smallest positive one");
}

void print_codec(const Analysis& s) {
  const std::string operation = s.gain == 1 ? "Q" : fmt::format("{:g} Q", s.gain);
  show("\ncodec {}: delta of E||{}(v) - v||^2 <= (1 - delta)^2 ||v||^2\n", s.codec, operation);
  if (s.delta_bound)
    line("delta, bound", *s.delta_bound, "guaranteed by the codec for every v");
  else
    line("delta, bound", "none", "the codec does not contract for every v");
  if (s.measured.messages == 0)
    line("delta, measured", "none", "every message was zero");
  else
    line("delta, measured",
         s.measured.delta() > 0 ? fmt::format("{:.4g}", s.measured.delta()) : "none",
         fmt::format("{} messages of the first {} rounds; squared error {:.3g}, at worst {:.3g}",
                     s.measured.messages, s.rounds, s.measured.mean_error, s.measured.worst_error));
  if (!s.diverged.empty()) show("  the run ended early: {}\n", s.diverged);
}

void print_smoothness(const Analysis& s) {
  std::string of_any, of_f;
  for (const Analysis::Curvature& c : s.curvatures) {
    const std::string where =
        c.round == 0 ? std::string("at the start") : fmt::format("after round {}", c.round);
    of_any += fmt::format("{}{:.4g} {}", of_any.empty() ? "" : ", ", c.L, where);
    of_f += fmt::format("{}{:.4g}", of_f.empty() ? "" : ", ", c.of_f);
  }
  show("\nsmoothness: the largest |eigenvalue| of a Hessian\n");
  line("L, at least", s.L, "of any f_i: " + of_any);
  line("L of f, at least", s.L_of_f, of_f);
  show("  Lower bounds: Hessians at these points only, by the power method{}.\n",
       s.samples_used == s.samples
           ? std::string()
           : fmt::format(", over {} of {} samples", s.samples_used, s.samples));
  line("f(x^0)", s.f_start);
}

// One column per delta.
void print_theorem(const Analysis& s) {
  show("\nTheorem 1, for eta = {:g} as configured and a = {:g}\n", s.steps->eta, s.a);
  if (!s.why_not.empty()) show("  It does not apply: {}.\n", s.why_not);
  if (s.bounds.empty()) return;
  const auto row = [&](const char* what, auto value, const std::string& note = "") {
    std::string cells;
    for (const Analysis::Bounds& b : s.bounds) cells += fmt::format("{:>12}  ", value(b));
    show("  {:<24} {} {}\n", what, cells, note);
  };
  const auto number = [](double v) { return fmt::format("{:.4g}", v); };
  row("with delta", [](auto& b) { return b.of; });
  row("delta", [&](auto& b) { return number(b.theorem.input().delta); });
  row("delta~", [&](auto& b) { return number(b.theorem.delta_tilde()); });
  row("delta_1", [&](auto& b) { return number(b.theorem.delta_1()); });
  row("delta_2", [&](auto& b) { return number(b.theorem.delta_2()); });
  row(
      "theta_lb", [&](auto& b) { return number(b.theorem.theta_lb()); },
      "theta must be at least this");
  row(
      "alpha_ub", [&](auto& b) { return number(b.alpha_ub); }, "alpha at most this,");
  row(
      "  for theta", [&](auto& b) { return number(b.theta); }, "the larger of yours and theta_lb");
  row(
      "F_0", [&](auto& b) { return b.F_0 ? number(*b.F_0) : "-"; }, "with f* = 0");
  row(
      "rounds", [&](auto& b) { return b.rounds ? number(*b.rounds) : "-"; },
      fmt::format("until 16 F_0 / (alpha_ub T) <= {:g}, which bounds", s.epsilon));
  show("  {:<24} {:{}}  the average of ||grad f(xbar)||^2\n", "", "", 14 * s.bounds.size());
}

std::string times(double factor) {
  return factor > 1 ? fmt::format("{:.3g} times off", factor) : std::string("within the bound");
}

void print_steps(const Analysis& s) {
  const Analysis::Steps& p = *s.steps;
  show("\nconfigured step sizes{}\n", p.constant ? "" : ", of schedules: at round 1");
  const bool known = !s.bounds.empty();
  line("alpha", p.alpha, known ? times(s.bounds.front().alpha_factor) : "");
  line("theta", p.theta, known ? times(s.bounds.front().theta_factor) : "");
  line("eta", p.eta, known ? "any above 0" : "");
  line("beta", p.beta, fmt::format("1 - alpha theta M = {:.4g}", 1 - p.alpha * p.theta * s.rho_1));
  line("gamma", p.gamma);
  show("\nwhat binds in practice\n");
  const Analysis::Limit* nearest = &s.limits.front();
  for (const Analysis::Limit& l : s.limits) {
    show("  {:<38} {:>9.4g} <= {:g}   {:<8}   {}\n", l.what, l.value, l.bound,
         l.holds ? "holds" : "violated", l.why);
    if (l.value / l.bound > nearest->value / nearest->bound) nearest = &l;
  }
  show("  {:<38} {:>9}        {:<8}   {}\n", "gamma Q contracts", s.delta_bound ? "yes" : "no",
       s.delta_bound ? "holds" : "violated", "surrogates follow");
  show(
      "The tightest is {}, at {:.0f} % of its limit.\n"
      "The limits are those of quadratics without compression. If the curvature is so large only\n"
      "in some places, a run may exceed them and still converge.\n",
      nearest->what, 100 * nearest->value / nearest->bound);
}

void print(const Analysis& s) {
  print_graph(s);
  print_codec(s);
  print_smoothness(s);
  if (!s.steps) {
    show("\nTheorem 1 is TiCoPD's: it says nothing about {}.\n", s.algorithm);
    return;
  }
  print_theorem(s);
  print_steps(s);
}

struct TheoryFlags {
  RunFlags run;
  double a = 1;
  std::uint32_t rounds = 50;
};

int theory(const fs::path& file, const TheoryFlags& flags) {
  const Config config = Config::read(file, flags.run.set);
  AnalysisOptions options;
  const bool shown = live() && !flags.run.quiet;
  options.prepare = {flags.run.threads, flags.run.offline, [&](const std::string& text) {
                       if (shown) clear_live();
                       if (!flags.run.quiet || is_warning(text)) tell("{}\n", text);
                     }};
  options.a = flags.a;
  options.rounds = flags.rounds;
  options.stop = &stop_requested();
  if (shown) options.progress = [](const std::string& doing) { draw_live(doing, ""); };
  const Analysis result = analyse(config, options);
  if (shown) clear_live();
  if (flags.run.json)
    show_json(to_json(result));
  else
    print(result);
  return 0;
}

}  // namespace

void add_theory(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "theory", "Compare a config's step sizes with the bounds of TiCoPD's Theorem 1");
  auto file = std::make_shared<fs::path>();
  auto flags = std::make_shared<TheoryFlags>();
  command->add_option("FILE", *file, "The experiment, a TOML file")->required();
  repeatable(
      command->add_option("--set", flags->run.set,
                          "Override a key of the config: --set graph.agents=20 (repeatable)"),
      "KEY=VALUE");
  command->add_option("--a", flags->a, "The theorem's free parameter a > 0; default 1")
      ->check(number_above_zero());
  command
      ->add_option("--rounds", flags->rounds,
                   "Rounds to run for measuring the codec and L; default 50")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--threads", flags->run.threads,
                   "Threads; default: every core this process may use")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--offline", flags->run.offline, "Never fetch data");
  command->add_flag("--quiet", flags->run.quiet, "Show no progress");
  command->add_flag("--json", flags->run.json, "Print the result as JSON");
  command->footer(
      "Examples:\n"
      "  ticopd theory experiments/mnist_ring10.toml\n"
      "  ticopd theory experiments/mnist_ring10.toml --set codec.bits=4 --a 10\n"
      "The output, and how we read the paper's typos: docs/theory.md");
  command->callback([=, &action] { action = [=] { return theory(*file, *flags); }; });
}

}  // namespace ticopd::app
