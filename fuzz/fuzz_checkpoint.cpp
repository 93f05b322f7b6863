// Checkpoints: an input is edits of a real checkpoint (checkpoint_edits.hpp), whose hashes are
// right again afterwards, so that what is behind the hash is tested; or the bytes of a file. A
// tiny run resumes from it, or refuses it with an error of ours. A run that resumed has sizes that
// fit and goes on to its end.
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "fuzz/checkpoint_edits.hpp"
#include "fuzz/place.hpp"
#include "fuzz/pull.hpp"
#include "fuzz/want.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/run/saved_state.hpp"
#include "ticopd/run/solve.hpp"

namespace {

using namespace ticopd;

// A run that resumes, and the checkpoint of it that is edited.
struct Case {
  virtual ~Case() = default;
  virtual void resume(const std::filesystem::path& file, bool save_again) const = 0;
  CheckpointParts right;
};

template <class T>
struct CaseOf final : Case {
  template <class Algorithm>
  CaseOf(const Algorithm& algorithm, Graph graph, double drop)
      : setup{.graph = graph,
              .objective = std::make_shared<Pull<T>>(graph.agents()),
              .codec = make_codec<T>({.kind = "qsgd", .bits = 4}),
              .links = {.drop = drop},
              .iterations = 6} {
    setup.execution.may_pin = false;
    setup.watch.on_warning = [](const std::string&) {};
    factory = validated(algorithm, setup);
    const auto file = place().folder() / "right.safetensors";
    Run<T> run(factory, setup);
    run.step(3);
    run.save(file);
    std::ifstream in(file, std::ios::binary);
    right = take_apart(std::string{std::istreambuf_iterator<char>(in), {}});
  }

  void resume(const std::filesystem::path& file, bool save_again) const override {
    // As resume() does first. To build a run takes longer than to refuse the file.
    SavedState::read(file, setup.graph.agents());
    Run<T> run(factory, setup);
    run.resume(file);
    want_sizes(run);
    run.step(setup.iterations);
    want(run.finished() && run.round() == setup.iterations);
    want_sizes(run);
    const auto parts = nlohmann::json::parse(run.summary().transport).at("parts");
    devices_json(parts);
    segments_json(parts);
    if (!save_again) return;
    const auto again = place().folder() / "again.safetensors";
    run.save(again);
    SavedState::read(again, setup.graph.agents());
    Run<T>(factory, setup).resume(again);
  }

  void want_sizes(Run<T>& run) const {
    const auto agents = static_cast<std::size_t>(setup.graph.agents());
    want(run.round() <= setup.iterations);
    want(run.x().rows() == agents && run.x().cols() == pull_dimension);
    const std::vector<Ledger::Agent> ledger = run.ledger();
    want(ledger.size() == agents);
    for (std::size_t i = 0; i < agents; ++i) {
      const auto links = static_cast<std::size_t>(setup.graph.degree(static_cast<int>(i)));
      want(ledger[i].link_messages.size() == links && ledger[i].link_bytes.size() == links);
    }
  }

  Setup<T> setup;
  RunFactory<T> factory;
};

const Case& chosen(std::uint8_t which) {
  static const std::array<std::unique_ptr<const Case>, 3> cases{
      std::make_unique<CaseOf<float>>(TiCoPD{.alpha = 0.1, .theta = 0.5, .eta = 0.1}, path(3), 0),
      std::make_unique<CaseOf<double>>(BEER{.eta = 0.02, .gamma = 0.2}, ring(4), 0),
      std::make_unique<CaseOf<float>>(ChocoSGD{.eta = 0.1, .gamma = 0.3}, path(3), 0.4)};
  return *cases[which % cases.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choices = data[0];
  const std::span rest(data + 1, size - 1);
  const bool raw = (choices & checkpoint_case) == checkpoint_case;
  const Case& run = chosen(raw ? 0 : choices & checkpoint_case);
  std::string file(rest.begin(), rest.end());
  if (!raw) {
    CheckpointParts parts = run.right;
    edit(parts, rest);
    file = put_together(std::move(parts), (choices & checkpoint_rows) == 0,
                        (choices & checkpoint_header) == 0);
  }
  const auto path = place().put("checkpoint.safetensors", file);
  accepts([&] { run.resume(path, (choices & checkpoint_save) != 0); });
  return 0;
}
