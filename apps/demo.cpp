#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/error.hpp"
#include "ticopd/report/report.hpp"

namespace ticopd::app {
namespace {

namespace fs = std::filesystem;

// One run of the demo: its label, and its part of the config.
struct Method {
  const char* label;
  const char* toml;
};

// The paper's problem with a third of the images, so that the demo takes about a minute. The step
// sizes of each method are the best of a small search at this size.
constexpr const char* problem = R"(
iterations = 1500
[problem]
objective = "mlp"
max_samples = 20000
partition = "label"
[graph]
kind = "ring"
agents = 10
[log]
points = 40
)";

constexpr Method methods[] = {
    {"TiCoPD, 8-bit qsgd", R"(
[algorithm]
name = "ticopd"
alpha = 0.7
theta = 0.2857
eta = 0.02857
beta = 0.6
[codec]
kind = "qsgd"
bits = 8
)"},
    {"CHOCO-SGD, 8-bit qsgd", R"(
[algorithm]
name = "choco_sgd"
eta = 0.05
gamma = 1.0
[codec]
kind = "qsgd"
bits = 8
)"},
    {"DGD, uncompressed", R"(
[algorithm]
name = "dgd"
eta = 0.4
)"},
};

// Fetches MNIST. If it is unavailable, says so and falls back to digits drawn in code.
std::string choose_data(bool offline) {
  try {
    fetch_mnist(offline, [](const std::string& text) { tell("{}\n", text); });
    return "mnist";
  } catch (const UnavailableError& e) {
    show(
        "MNIST is not available ({}).\nThe demo uses digit-like images drawn in code instead: the\n"
        "results below are not those of MNIST.\n",
        e.what());
    return "digits";
  }
}

int demo(const RunFlags& flags) {
  FolderClaim claim = folder_for(flags.out, "demo");
  claim.hold();
  const fs::path& out = claim.path();
  if (!is_empty_folder(out))
    throw UsageError(fmt::format("--out {}: is not empty; give a new folder", out.string()));
  const std::string data = choose_data(flags.offline);
  show(
      "Ten agents on a ring train one 784-100-10 network on {}. Each agent holds the images of\n"
      "one digit only and sends messages only to its two neighbours.\n\n",
      data);
  std::vector<std::pair<std::string, Metrics>> rows;
  std::vector<Series> series;
  for (const Method& method : methods) {
    std::vector<std::string> set = {"problem.data=\"" + data + "\"",
                                    fmt::format("name=\"{}\"", method.label)};
    if (data == "digits") set.emplace_back("problem.samples=12000");
    set.insert(set.end(), flags.set.begin(), flags.set.end());
    const Config config = Config::parse(std::string(problem) + method.toml, ".", set);
    Progress progress(method.label, config.get<std::uint32_t>("iterations"), flags.quiet);
    RunOptions options = watched_by(progress, flags);
    options.out = out / config.get<std::string>("algorithm.name");
    const nlohmann::json summary = run_experiment(config, options);
    progress.clear();
    if (summary["status"] == "interrupted")
      throw Interrupted("interrupted; finished runs are in " + out.string());
    show("  {:<24} done in {}\n", method.label, duration(summary["seconds"]["total"]));
    rows.emplace_back(method.label, progress.last().value());
    series.push_back(read_series(options.out));
  }
  show("\n{:<24} {:>16} {:>16} {:>18}\n", "", "worst accuracy", "consensus error",
       "Mbit sent / agent");
  for (const auto& [label, m] : rows)
    show("{:<24} {:>16.4f} {:>16.3g} {:>18.1f}\n", label, m.accuracy_min.value_or(0), m.consensus,
         m.bits_payload / 1e6);
  show(
      "\nWorst accuracy: the lowest of the ten local models, on test images of all ten digits.\n"
      "Results: {}\n",
      out.string());
  const Written written = write_report(out, series,
                                       {.title = "Ten agents, one digit each",
                                        .command = "ticopd demo",
                                        .targets = default_targets(series),
                                        .folder = out,
                                        .stop = &stop_requested()});
  for (const fs::path& file : written.files)
    if (file.extension() == ".html") show("The curves, in your browser: {}\n", file.string());
  for (const std::string& text : written.missing) show("Missing: {}\n", text);
  return 0;
}

}  // namespace

void add_demo(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "demo", "Compare TiCoPD with CHOCO-SGD and DGD on MNIST; about a minute on two cores");
  auto flags = std::make_shared<RunFlags>();
  repeatable(command->add_option("--set", flags->set, "Override a key of all three runs"),
             "KEY=VALUE");
  command->add_option("--out", flags->out, "Folder for the results; default runs/demo-TIME")
      ->type_name("DIR");
  command
      ->add_option("--threads", flags->threads, "Threads; default: every core this process may use")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--offline", flags->offline,
                    "Never fetch data; without MNIST in the cache, use digits drawn in code");
  command->add_flag("--quiet", flags->quiet, "Show no progress");
  command->footer("Example:\n  ticopd demo --set iterations=300");
  command->callback([=, &action] { action = [=] { return demo(*flags); }; });
}

}  // namespace ticopd::app
