#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/commands.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/folder.hpp"

namespace ticopd::app {
namespace {

int verify(const std::filesystem::path& folder, const RunFlags& flags) {
  const nlohmann::json before = RunFolder::require_summary(folder);
  Progress progress("verify", before.value("iterations", 0u), flags.quiet);
  const Verdict verdict = verify_experiment(folder, watched_by(progress, flags));
  progress.clear();
  if (flags.json)
    show_json({{"same", verdict.same},
               {"comparable", verdict.comparable},
               {"difference", verdict.difference},
               {"digest", verdict.digest}});
  else if (verdict.same)
    show("same digest: {}\n", verdict.digest);
  if (!verdict.comparable) throw UnavailableError(verdict.difference);
  if (!verdict.same) throw FormatError(verdict.difference);
  return 0;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("verify", "Run a folder's experiment again and compare the digest");
  auto folder = std::make_shared<std::filesystem::path>();
  auto flags = std::make_shared<RunFlags>();
  command->add_option("DIR", *folder, "A run folder")->required();
  command->add_option("--threads", flags->threads, "Threads; any number gives the same digest")
      ->check(CLI::Range(1, 4096));
  command->add_flag("--offline", flags->offline, "Never fetch data");
  command->add_flag("--quiet", flags->quiet, "Show no progress");
  command->add_flag("--json", flags->json, "Print the verdict as JSON");
  command->footer(
      "Example:\n  ticopd verify runs/mnist_ring10-20260101-120000 --threads 1\n"
      "Exit codes: 0 same digest, 65 another digest or an unfinished run, 69 a different version,\n"
      "  instruction set, kernel, BLAS or device");
  command->callback([=, &action] { action = [=] { return verify(*folder, *flags); }; });
}

}  // namespace ticopd::app
