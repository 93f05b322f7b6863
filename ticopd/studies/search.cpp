#include "ticopd/studies/search.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "ticopd/cuda/cuda.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/claim.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/stopping.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path folder_of(const RunSet::Run& run, const RunSet& run_set, const fs::path& out) {
  return run_set.runs.size() == 1 ? out : out / run.folder;
}

void refuse_if_taken(const fs::path& out, const RunSet& run_set, bool resume) {
  std::error_code error;
  if (is_empty_folder(out)) return;
  if (!resume)
    throw UsageError(fmt::format(
        "--out {}: is not empty; give a new folder, or --resume to go on with the search in it",
        out.string()));
  const fs::path first = folder_of(run_set.runs[0], run_set, out);
  if (!fs::exists(first / "search.json", error) && !holds_only_unfinished(out))
    throw UsageError(
        fmt::format("--resume: {} holds files, but no search made by ticopd", out.string()));
}

// The seeds of a trial: those that the caller gives, else [tune] seeds, else the seeds of the file.
TuneOptions tuning_of(const RunSet::Run& run, const RunSet& run_set, const fs::path& folder,
                      const SearchOptions& options) {
  TuneOptions tuning;
  tuning.prepare = options.prepare;
  tuning.out = folder;
  tuning.stop = options.stop;
  tuning.metric = options.metric;
  tuning.runs = options.runs;
  tuning.budget_bits = options.budget_bits;
  tuning.seeds = options.seeds;
  if (tuning.seeds.empty() && !run_set.seeds.empty() && !run.config.has("tune.seeds"))
    tuning.seeds = run.seeds;
  tuning.on_progress = options.on_progress;
  return tuning;
}

// The last search may begin hours after the first.
void check_searches(const RunSet& run_set, const SearchOptions& options) {
  for (const RunSet::Run& run : run_set.runs) try {
      check_search(run.config, tuning_of(run, run_set, {}, options));
    } catch (const ConfigError& e) {
      if (run_set.runs.size() == 1) throw;
      throw ConfigError(fmt::format("{}: {}", run.label, e.what()));
    }
}

Tuned tune_one(const RunSet::Run& run, const RunSet& run_set, const fs::path& folder,
               const SearchOptions& options) {
  Tuned tuned = tune(run.config, tuning_of(run, run_set, folder, options));
  if (options.on_end) options.on_end(tuned);
  if (!tuned.finished) throw Interrupted("interrupted; all is saved");
  return tuned;
}

}  // namespace

Searched search_step_sizes(const RunSet& run_set, const SearchOptions& options) {
  const StopScope heard(options.stop);
  if (options.prepare.device == Device::cuda) cuda::require_device();
  require_folder_to_resume(options.resume, options.out, "search");
  check_searches(run_set, options);
  FolderClaim claim = folder_for(options.out, "tune-" + run_set.name);
  claim.hold();
  refuse_if_taken(claim.path(), run_set, options.resume);
  remove_unfinished(claim.path());
  if (options.on_folder) options.on_folder(claim.path());
  Searched searched{.folder = claim.path(), .found = {}, .tuned_toml = claim.path() / "tuned.toml"};
  std::vector<Tuned> tuned;
  for (std::size_t i = 0; i < run_set.runs.size(); ++i) {
    const RunSet::Run& run = run_set.runs[i];
    if (options.on_begin) options.on_begin(run, i);
    Found found{.label = run.label, .folder = folder_of(run, run_set, claim.path()), .tuned = {}};
    found.tuned = tune_one(run, run_set, found.folder, options);
    found.missing = draw_search(found.folder, found.tuned, options.stop);
    if (options.on_found) options.on_found(found);
    tuned.push_back(found.tuned);
    searched.found.push_back(std::move(found));
  }
  write_atomically(searched.tuned_toml, tuned_toml(run_set, tuned));
  return searched;
}

json searched_json(const Searched& searched) {
  json rows = json::array();
  for (const Found& found : searched.found) {
    const Tuned& t = found.tuned;
    rows.push_back({{"label", found.label},
                    {"step_sizes", t.values},
                    {"metric", t.metric},
                    {"value", std::isfinite(t.value) ? json(t.value) : json()},
                    {"iterations", t.rounds},
                    {"trials", t.trials},
                    {"diverged", t.lost},
                    {"cost", t.cost},
                    {"seeds", t.seeds},
                    {"beyond", t.beyond == Trial::Beyond::held   ? "held"
                               : t.beyond == Trial::Beyond::grew ? "grew"
                                                                 : "unknown"},
                    {"grew", t.grew},
                    {"left_out", t.left_out},
                    {"theory", t.theory},
                    {"folder", found.folder.string()}});
  }
  return rows;
}

}  // namespace ticopd
