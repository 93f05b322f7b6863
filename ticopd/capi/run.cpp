#include "ticopd/capi/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "ticopd/error.hpp"
#include "ticopd/experiment/kinds.hpp"

using namespace ticopd;
using capi::call;
using capi::require;
using nlohmann::json;

namespace {

// The use of a run by one thread of the caller's, for the time of one call.
class Use : public capi::Use<tc_run> {
 public:
  explicit Use(const tc_run* run) : capi::Use<tc_run>(run, "run") {}

  // Waits while the thread computes: until it asks, or is done.
  void settle() const {
    (*this)->conversation.wait(-1);
    if ((*this)->conversation.closing()) throw UsageError("this run was closed by another thread");
  }
  Session& session() const {
    if (!(*this)->session)
      throw UsageError("the set-up of this run is not done: call tc_run_next until TC_OK");
    return *(*this)->session;
  }
  // The session while nothing else is going on.
  Session& at_rest() const;
  // For calls that speak to the other ranks.
  void require_ranks() const {
    if ((*this)->ranks && (*this)->ranks->closed)
      throw UsageError("the ranks of this run were closed; only its models can still be read");
  }
  void begin(std::function<void()> work) const {
    require_ranks();
    (*this)->stepping = false;
    (*this)->conversation.begin(std::move(work));
  }
};

void warn(tc_run& run, const std::string& text) {
  constexpr std::string_view prefix = "warning: ";
  const std::lock_guard lock(run.warnings_mutex);
  run.warnings.push_back(text.starts_with(prefix) ? text.substr(prefix.size()) : text);
}

Session& Use::at_rest() const {
  settle();
  Session& s = session();
  if (const std::exception_ptr failed = (*this)->conversation.drop_result()) try {
      std::rethrow_exception(failed);
    } catch (const std::exception& e) {
      warn(**this,
           fmt::format("the call before, whose end was not waited for, failed: {}", e.what()));
    }
  if ((*this)->conversation.busy())
    throw UsageError("a question of this run is open: answer it, or give it up, first");
  return s;
}

void begin_step(const Use& use) {
  use.begin([&run = *use, &session = use.session()] {
    while (run.made < run.wanted && !run.conversation.closing()) {
      if (session.step(1) == 0) break;
      run.made = session.round();
    }
  });
  use->stepping = true;
}

int next(const Use& use, std::uint64_t answered, double seconds, tc_question& question) try {
  const int code = use->conversation.next(answered, seconds, question);
  // A step that was prolonged just when its last round was done.
  if (code != TC_OK || !use->stepping ||
      use->made >= std::min<std::uint32_t>(use->wanted, use->iterations))
    return code;
  begin_step(use);
  return use->conversation.next(0, seconds, question);
} catch (...) {
  use->wanted = use->made.load();
  throw;
}

// For the questions that any thread may ask at any time; null if there is no such run.
std::shared_ptr<const tc_run> known(const tc_run* run) {
  auto found = std::dynamic_pointer_cast<const tc_run>(capi::held(run));
  return found && found->of_this_process() ? found : nullptr;
}

// An objective without values can be followed by its rows only.
void refuse_unmeasured(const capi::Problem& problem, const Config& config) {
  if (problem.has_values || config.get<std::string>("log.level") == "rows") return;
  throw ConfigError(
      fmt::format("log.level = \"{}\": the objective computes no values; allowed is \"rows\"",
                  config.get<std::string>("log.level")));
}

void open_session(tc_run& run, const Config& config, const tc_problem* given) {
  SessionOptions options;
  options.processes = run.ranks ? run.ranks->processes.get() : nullptr;
  options.prepare.say = [&run](const std::string& text) { warn(run, text); };
  options.prepare.threads = 0;
  if (given != nullptr) {
    const bool is_double = config.get<std::string>("precision") == "double";
    const auto problem = capi::Problem::read(*given, is_double ? sizeof(double) : sizeof(float));
    refuse_unmeasured(problem, config);
    options.prepare.external = capi::ask_objective(problem, run.conversation);
    options.metrics = capi::ask_metrics(problem, run.conversation);
  }
  run.conversation.begin([&run, config, options] {
    run.session = Session::open(config, options);
    run.made = run.session->round();
  });
}

}  // namespace

extern "C" {

int tc_run_open(const char* config, const char* folder, const tc_problem* problem, tc_ranks* ranks,
                tc_run** run) {
  return call([&] {
    require(run, "run");
    *run = nullptr;
    const Config parsed =
        Config::from_json(capi::read_json(config, "config"), folder != nullptr ? folder : ".");
    check(parsed);
    if (problem == nullptr && has_external_objective(parsed.tree()))
      throw UsageError("problem.objective = \"external\": tc_run_open needs a tc_problem");
    if (problem != nullptr && !has_external_objective(parsed.tree()))
      throw ConfigError(
          "problem.objective: a run with an objective of your own needs \"external\" here");
    auto made = std::make_shared<tc_run>();
    made->iterations = parsed.get<std::uint32_t>("iterations");
    if (ranks != nullptr) made->ranks = capi::find(ranks, "ranks");
    open_session(*made, parsed, problem);
    *run = capi::new_handle(made);
  });
}

void tc_run_close(tc_run* run) {
  const std::shared_ptr<tc_run> closed = capi::close_handle(run);
  if (closed) capi::close(*closed);
}

int tc_run_next(tc_run* run, uint64_t answered, double seconds, tc_question* question) {
  int code = TC_OK;
  const int failure = call([&] {
    require(question, "question");
    const Use use(run);
    code = next(use, answered, seconds, *question);
    if (code == TC_ASKS) question->round = use->stepping ? use->made + 1 : use->made.load();
  });
  return failure != TC_OK ? failure : code;
}

int tc_run_step(tc_run* run, uint32_t rounds) {
  return call([&] {
    const Use use(run);
    use.session();
    use.require_ranks();
    const std::uint64_t target = std::uint64_t{use->made} + rounds;
    use->wanted = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(target, std::numeric_limits<std::uint32_t>::max()));
    const bool goes_on = use->conversation.busy() && !use->conversation.ended_well();
    if (use->stepping && goes_on) return;
    use.at_rest();
    begin_step(use);
  });
}

int tc_run_measure(tc_run* run, int level) {
  return call([&] {
    const Use use(run);
    if (level < 0 || level > 2)
      throw UsageError(fmt::format("level = {}: allowed are 0 (rows), 1 (local), 2 (full)", level));
    Session& session = use.at_rest();
    use.begin([&run = *use, &session, level] {
      run.measured = session.cells(session.measure(static_cast<MetricLevel>(level)));
    });
  });
}

int tc_run_save(tc_run* run, const char* folder) {
  return call([&] {
    const Use use(run);
    require(folder, "folder");
    use.settle();
    Session& session = use.session();
    if (use->conversation.busy() && use->stepping) {
      use->saved_round = session.save_snapshot(folder);
      return;
    }
    use.at_rest();
    use.begin([&run = *use, &session, to = std::string(folder)] {
      session.save(to);
      run.saved_round = session.round();
    });
  });
}

int tc_run_resume(tc_run* run, const char* folder) {
  return call([&] {
    const Use use(run);
    require(folder, "folder");
    Session& session = use.at_rest();
    use.begin([&run = *use, &session, from = std::string(folder)] {
      session.resume(from);
      run.made = session.round();
    });
  });
}

int tc_run_give_up(tc_run* run) {
  return call([&] {
    const Use use(run);
    use.settle();
    if (use->stepping || !use->session)
      throw UsageError("the question of a step cannot be given up: answer it, or close the run");
    if (use->conversation.busy()) use->conversation.give_up();
  });
}

int tc_run_pending(const tc_run* run) {
  const auto found = known(run);
  return found && found->stepping && found->conversation.busy() ? 1 : 0;
}

uint32_t tc_run_saved_round(const tc_run* run) {
  const auto found = known(run);
  return found ? found->saved_round.load() : 0;
}

uint32_t tc_run_round(const tc_run* run) {
  const auto found = known(run);
  return found ? found->made.load() : 0;
}

int tc_run_finished(const tc_run* run) {
  const auto found = known(run);
  return found && found->made >= found->iterations ? 1 : 0;
}

int tc_run_x(tc_run* run, const void** x, int32_t* first_agent, int32_t* rows, uint64_t* columns) {
  return call([&] {
    const Use use(run);
    use.settle();
    const SessionRows now = use.session().x();
    if (x != nullptr) *x = now.data;
    if (first_agent != nullptr) *first_agent = now.first_agent;
    if (rows != nullptr) *rows = static_cast<int32_t>(now.rows);
    if (columns != nullptr) *columns = now.columns;
  });
}

int tc_run_digest(tc_run* run, char** hex) {
  return call([&] {
    const Use use(run);
    use.require_ranks();
    use.settle();
    capi::give(use.session().digest(), hex);
  });
}

int tc_run_log_every(tc_run* run, uint32_t rounds) {
  return call([&] {
    const Use use(run);
    if (rounds == 0) throw ConfigError("log.every = 0: allowed is a whole number from 1 up");
    Session& session = use.at_rest();
    if (!session.logged().empty() || session.round() > 0)
      throw UsageError("the rounds to log were chosen when this run began");
    session.log_every(rounds);
  });
}

int tc_run_columns(const tc_run* run, char** names) {
  return call([&] {
    const Use use(run);
    json all = json::array();
    for (const MetricInfo& column : use.session().columns()) all.push_back(column.column);
    capi::give(all, names);
  });
}

size_t tc_run_logged(const tc_run* run) {
  std::size_t rows = 0;
  call([&] {
    const Use use(run);
    use.settle();
    rows = use.session().logged().size();
  });
  return rows;
}

int tc_run_rows(const tc_run* run, size_t first, size_t count, double* cells) {
  return call([&] {
    const Use use(run);
    use.settle();
    const auto& logged = use.session().logged();
    if (first > logged.size() || count > logged.size() - first)
      throw UsageError(
          fmt::format("rows {} to {}: {} are logged", first, first + count, logged.size()));
    if (count > 0) require(cells, "cells");
    for (std::size_t row = first; row < first + count; ++row)
      cells = std::ranges::copy(logged[row], cells).out;
  });
}

int tc_run_measured(const tc_run* run, double* cells) {
  return call([&] {
    const Use use(run);
    require(cells, "cells");
    if (use->measured.empty()) throw UsageError("tc_run_measure was not called, or failed");
    std::ranges::copy(use->measured, cells);
  });
}

int tc_run_summary(tc_run* run, char** text) {
  return call([&] {
    const Use use(run);
    use.require_ranks();
    use.settle();
    capi::give(use.session().summary(), text);
  });
}

int tc_run_warnings(tc_run* run, char** texts) {
  return call([&] {
    const auto found = capi::find(run, "run");
    const std::lock_guard lock(found->warnings_mutex);
    capi::give(json(found->warnings), texts);
    found->warnings.clear();
  });
}
}
