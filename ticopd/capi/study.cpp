#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "ticopd/capi/conversation.hpp"
#include "ticopd/capi/handles.hpp"
#include "ticopd/capi/questions.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/analysis.hpp"
#include "ticopd/experiment/run_set.hpp"
#include "ticopd/experiment/values.hpp"
#include "ticopd/report/report.hpp"
#include "ticopd/studies/comparison.hpp"
#include "ticopd/studies/search.hpp"
#include "ticopd/system/file.hpp"
#include "ticopd/system/stopping.hpp"

using namespace ticopd;
using capi::call;
using capi::require;
using nlohmann::json;

namespace fs = std::filesystem;

struct tc_study : capi::Held {
  ~tc_study() override { conversation.close(); }  // its work uses all that stands below

  capi::Conversation conversation;
  std::atomic<bool> stop{false};
  json result;  // null until the work is done

  std::mutex events_mutex;
  json events = json::array();

  void tell(json event) {
    const std::lock_guard lock(events_mutex);
    events.push_back(std::move(event));
  }
};

namespace {

struct Use : capi::Use<tc_study> {
  explicit Use(tc_study* study) : capi::Use<tc_study>(study, "study") {}
};

// The options of a study; a misspelt one is refused, as the command line does.
class Options {
 public:
  Options(const char* text, std::initializer_list<std::string_view> known)
      : tree_(text == nullptr ? json::object() : capi::read_json(text, "options")) {
    if (!tree_.is_object()) throw UsageError("options: allowed is a table");
    const std::vector<std::string_view> names(known);
    for (const auto& [name, value] : tree_.items())
      if (std::ranges::find(names, name) == names.end())
        throw UsageError(not_allowed("options", name, names));
  }

  template <class V>
  V get(const char* name, V usual) const try {
    return tree_.contains(name) ? tree_[name].get<V>() : usual;
  } catch (const json::exception&) {
    throw UsageError(fmt::format("options: {} = {}: is of a wrong type", name, tree_[name].dump()));
  }

 private:
  json tree_;
};

PrepareOptions prepare_options(const Options& options, tc_study& study) {
  PrepareOptions prepare;
  const auto threads = options.get<std::int64_t>("threads", 0);
  if (threads < 0 || threads > 4096)
    throw UsageError(fmt::format("threads = {}: allowed is 1 to 4096", threads));
  prepare.threads = static_cast<int>(threads);
  prepare.offline = options.get("offline", false);
  prepare.say = [&study](const std::string& text) { study.tell({{"text", text}}); };
  return prepare;
}

std::vector<fs::path> paths(const char* const* files, std::size_t count) {
  if (count == 0) throw UsageError("there is no file or folder; give at least one");
  require(files, "files");
  std::vector<fs::path> all;
  for (std::size_t i = 0; i < count; ++i) {
    require(files[i], "files");
    all.emplace_back(files[i]);
  }
  return all;
}

json texts(const std::vector<fs::path>& files) {
  json all = json::array();
  for (const fs::path& file : files) all.push_back(file.string());
  return all;
}

// Makes a study and lets it begin. `work` is called on its thread and returns the result.
void open(tc_study** to, std::shared_ptr<tc_study> study, std::function<json()> work) {
  tc_study& made = *study;
  made.conversation.begin([&made, work = std::move(work)] {
    const StopScope heard(&made.stop);
    made.result = work();
  });
  *to = capi::new_handle(std::move(study));
}

json result_of(const Compared& compared) {
  json runs = json::array();
  for (const RunOutcome& run : compared.runs)
    runs.push_back({{"label", run.label},
                    {"folder", run.folder.string()},
                    {"diverged", run.diverged},
                    {"group", run.group},
                    {"seed", run.seed},
                    {"swept", run.swept},
                    {"seconds", run.seconds}});
  return {{"folder", compared.folder.string()},
          {"runs", std::move(runs)},
          {"report", report_json(compared.collection.runs, compared.collection.options)},
          {"files", texts(compared.written.files)},
          {"missing", compared.written.missing}};
}

CompareOptions compare_options(const Options& options, tc_study& study, std::size_t runs) {
  CompareOptions o;
  o.prepare = prepare_options(options, study);
  o.out = options.get<std::string>("out", "");
  o.resume = options.get("resume", false);
  o.stop = &study.stop;
  o.on_warning = [&study](const std::string& label, const std::string& text) {
    study.tell({{"text", fmt::format("{}: warning: {}", label, text)}});
  };
  o.at_once = options.get<int>("jobs", 0);
  o.memory = options.get<double>("memory", 0) * 0x1p30;
  if (o.at_once < 0 || !(o.memory >= 0))
    throw UsageError("jobs, memory: allowed are numbers above 0");
  o.on_progress = [&study](const CompareProgress& p) {
    study.tell({{"text", fmt::format("{} of {} runs, {:.0f} %", p.ended, p.runs, 100 * p.done)},
                {"done", p.done}});
  };
  if (runs > 20) return o;  // too many to name each
  o.on_begin = [&study, runs](const RunSet::Run& run, std::size_t index) {
    study.tell({{"text", fmt::format("{}: run {} of {}", run.label, index + 1, runs)},
                {"done", static_cast<double>(index) / static_cast<double>(runs)}});
  };
  o.on_end = [&study](const RunOutcome& run) {
    study.tell({{"text", fmt::format("{}: {}", run.label,
                                     run.diverged.empty() ? "finished" : run.diverged)}});
  };
  return o;
}

// The runs of TOML files, or of a config in the options.
RunSet run_set_to_compare(const char* const* files, std::size_t count, const Options& options) {
  const auto set = options.get<std::vector<std::string>>("set", {});
  const json config = options.get<json>("config", json());
  if (config.is_null()) return read_run_set(paths(files, count), set);
  if (count > 0) throw UsageError("compare: give files or a config, one of them");
  return run_set_of(config, ".", set);
}

SearchOptions search_options(const Options& options, tc_study& study, std::uint64_t first_seed) {
  SearchOptions o;
  o.prepare = prepare_options(options, study);
  o.out = options.get<std::string>("out", "");
  o.resume = options.get("resume", false);
  o.stop = &study.stop;
  o.metric = options.get<std::string>("metric", "");
  o.runs = options.get<double>("runs", 0);
  o.budget_bits = options.get<double>("budget_bits", 0);
  if (json seeds = options.get<json>("seeds", {}); !seeds.is_null()) {
    check_value("seeds", domain::seeds(), seeds);
    o.seeds = seeds_of(seeds, first_seed);
  }
  if (o.runs != 0 && !(o.runs >= 2 && o.runs <= 1e6))
    throw UsageError(fmt::format("runs = {}: allowed is 2 to 1000000", o.runs));
  if (!(o.budget_bits >= 0)) throw UsageError("budget_bits: allowed is a number above 0");
  o.on_progress = [&study](const TuneProgress& p) {
    study.tell(
        {{"text", fmt::format("{} trials, {:.0f} %, best {:.5g}", p.trials, 100 * p.done, p.best)},
         {"done", p.done}});
  };
  return o;
}

RunSet run_set_to_tune(const char* file, const char* config, const Options& options) {
  if ((file == nullptr) == (config == nullptr))
    throw UsageError("tune: give a file or a config, one of them");
  auto set = options.get<std::vector<std::string>>("set", {});
  if (const auto rounds = options.get<std::int64_t>("budget_iterations", 0); rounds != 0) {
    if (options.get<double>("budget_bits", 0) > 0)
      throw UsageError("budget_bits and budget_iterations: give only one of them");
    set.push_back(fmt::format("iterations={}", rounds));
  }
  if (config != nullptr)
    return run_set_of(capi::read_json(config, "config"), ".", set, Seeds::together);
  const fs::path path(file);
  return read_run_set(std::span(&path, 1), set, Seeds::together);
}

std::size_t precision_of(const Config& config) {
  return config.get<std::string>("precision") == "double" ? sizeof(double) : sizeof(float);
}

json result_of(const Searched& searched) {
  json missing = json::array();
  for (const Found& found : searched.found)
    if (!found.missing.empty()) missing.push_back(found.missing);
  return {{"folder", searched.folder.string()},
          {"best", searched.found.front().tuned.values},
          {"searches", searched_json(searched)},
          {"toml", read_file(searched.tuned_toml)},
          {"missing", std::move(missing)}};
}

}  // namespace

extern "C" {

int tc_compare(const char* const* files, size_t count, const char* options, tc_study** study) {
  return call([&] {
    require(study, "study");
    *study = nullptr;
    const Options given(options,
                        {"out", "resume", "threads", "offline", "set", "jobs", "memory", "config"});
    auto run_set = std::make_shared<const RunSet>(run_set_to_compare(files, count, given));
    auto made = std::make_shared<tc_study>();
    const CompareOptions o = compare_options(given, *made, run_set->runs.size());
    open(study, std::move(made), [run_set, o] { return result_of(compare(*run_set, o)); });
  });
}

int tc_tune(const char* file, const char* config, const char* options, const tc_problem* problem,
            tc_study** study) {
  return call([&] {
    require(study, "study");
    *study = nullptr;
    const Options given(options, {"out", "resume", "threads", "offline", "set", "runs", "seeds",
                                  "metric", "budget_bits", "budget_iterations"});
    auto run_set = std::make_shared<const RunSet>(run_set_to_tune(file, config, given));
    auto made = std::make_shared<tc_study>();
    SearchOptions o =
        search_options(given, *made, run_set->runs.front().config.get<std::uint64_t>("seed"));
    if (problem != nullptr)
      o.prepare.external = capi::ask_objective(
          capi::Problem::read(*problem, precision_of(run_set->runs.front().config)),
          made->conversation);
    open(study, std::move(made),
         [run_set, o] { return result_of(search_step_sizes(*run_set, o)); });
  });
}

int tc_theory(const char* config, const char* folder, const tc_problem* problem, tc_study** study) {
  return call([&] {
    require(study, "study");
    *study = nullptr;
    const Config parsed =
        Config::from_json(capi::read_json(config, "config"), folder != nullptr ? folder : ".");
    auto made = std::make_shared<tc_study>();
    AnalysisOptions o;
    tc_study& told = *made;
    o.prepare.say = o.progress = [&told](const std::string& text) { told.tell({{"text", text}}); };
    o.stop = &told.stop;
    if (problem != nullptr)
      o.prepare.external = capi::ask_objective(capi::Problem::read(*problem, precision_of(parsed)),
                                               told.conversation);
    open(study, std::move(made), [parsed, o] { return to_json(analyse(parsed, o)); });
  });
}

int tc_study_next(tc_study* study, uint64_t answered, double seconds, tc_question* question) {
  int code = TC_OK;
  const int failure = call([&] {
    require(question, "question");
    const Use use(study);
    code = use->conversation.next(answered, seconds, *question);
  });
  return failure != TC_OK ? failure : code;
}

int tc_study_progress(tc_study* study, char** text) {
  return call([&] {
    const auto found = capi::find(study, "study");
    const std::lock_guard lock(found->events_mutex);
    capi::give(found->events, text);
    found->events = json::array();
  });
}

int tc_study_stop(tc_study* study) {
  return call([&] {
    const auto found = capi::find(study, "study");
    found->stop = true;
    found->conversation.stop_asking();
  });
}

int tc_study_result(tc_study* study, char** text) {
  return call([&] {
    const Use use(study);
    if (use->conversation.busy()) throw UsageError("the study is not done: call tc_study_next");
    if (use->result.is_null()) throw UsageError("the study failed: it has no result");
    capi::give(use->result, text);
  });
}

void tc_study_close(tc_study* study) {
  const std::shared_ptr<tc_study> closed = capi::close_handle(study);
  if (!closed) return;
  closed->stop = true;
  capi::close(*closed);
}

int tc_report(const char* const* folders, size_t count, const char* out, const char* options,
              char** text) {
  return call([&] {
    require(out, "out");
    const Options given(options, {"title", "targets", "bits"});
    std::vector<std::string> words;
    for (const fs::path& folder : paths(folders, count)) words.push_back(folder.string());
    std::vector<Target> targets;
    for (const std::string& target : given.get<std::vector<std::string>>("targets", {}))
      targets.push_back(parse_target(target));
    Collection all = read_folders(words);
    ReportOptions& o = all.options;
    o.folder = out;
    o.title = given.get<std::string>("title", o.title);
    if (o.title.empty()) o.title = all.runs.size() == 1 ? all.runs.front().label : "Report";
    if (!targets.empty()) o.targets = targets;
    if (o.targets.empty()) o.targets = default_targets(all.runs);
    const std::string bits = given.get<std::string>("bits", "");
    if (!bits.empty()) o.bits = "bits_" + bits;
    if (std::ranges::find(bits_names(), o.bits) == bits_names().end())
      throw UsageError(fmt::format("bits = \"{}\": allowed are paper, payload, link", bits));
    const Written written = write_report(out, all.runs, o);
    json result = report_json(all.runs, o);
    result["files"] = texts(written.files);
    result["missing"] = written.missing;
    for (const std::string& left_out : all.missing) result["missing"].push_back(left_out);
    capi::give(result, text);
  });
}
}
