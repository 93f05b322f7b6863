// Checkpoints of sites: an input is edits of a real one (SiteEdit), whose hash is right again
// afterwards; or the bytes of a file. The site goes on from it beside a neighbour whose checkpoint
// is right, or refuses it with an error of ours. A pair that came to its end has sizes that fit,
// and what it saved is read again.
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "fuzz/pull.hpp"
#include "fuzz/site_edits.hpp"
#include "fuzz/site_pair.hpp"
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/run/solve.hpp"

namespace {

using namespace ticopd;

constexpr const char* older = "site.000000000003.checkpoint";
constexpr const char* newer = "site.000000000004.checkpoint";

// A run of two sites, and what its first one saved in the middle.
struct Case {
  virtual ~Case() = default;
  // True if both sites came to their end.
  virtual bool go_on(SitePair::Files files, bool again) const = 0;
  SiteParts right;
};

template <class T>
struct CaseOf final : Case {
  template <class Algorithm>
  CaseOf(const Algorithm& algorithm, Graph graph, double drop)
      : setup{.graph = graph,
              .objective = std::make_shared<Pull<T>>(graph.agents()),
              .codec = make_codec<T>({.kind = "qsgd", .bits = 4}),
              .links = {.drop = drop},
              .iterations = 6,
              .watch = {.rounds = {.every = 2}}} {
    setup.execution.may_pin = false;
    setup.execution.threads = 1;
    setup.watch.on_warning = [](const std::string&) {};
    factory = validated(algorithm, setup);
    options.sites = {.names = {"a", "b"}, .network = 7};
    options.checkpoint_rounds = 3;
    options.linger = options.unconfirmed = one_second;
    // Both are stopped after three rounds.
    SiteOptions first = options;
    std::atomic<bool> stop = false;
    first.stop = &stop;
    first.on_round = [&](std::uint32_t round) { stop = round >= 3; };
    SitePair pair({});
    pair.run<T>(factory, setup, first, [](int, Site<T>&) {});
    for (std::size_t s : {0, 1}) {
      want(pair.end(s) == SitePair::End::finished && pair.files(s).size() == 1);
      saved[s][older] = pair.files(s).begin()->second;
    }
    right = take_apart_site(saved[0].at(older));
  }

  bool go_on(SitePair::Files files, bool again) const override {
    SitePair pair({std::move(files), saved[1]});
    pair.run<T>(factory, setup, options,
                [&](int number, Site<T>& site) { want_sizes(number, site); });
    const bool both = pair.end(0) == SitePair::End::finished && pair.end(1) == pair.end(0);
    if (both && again) {
      SitePair once_more({pair.files(0), pair.files(1)});
      once_more.run<T>(factory, setup, options, [](int, Site<T>&) {});
      for (std::size_t s : {0, 1}) want(once_more.end(s) == SitePair::End::finished);
    }
    return both;
  }

  void want_sizes(int, Site<T>& site) const {
    want(site.round() == setup.iterations);
    want(site.x().rows() == 2 && site.x().cols() == pull_dimension);
    want(site.ledger().size() == 2);
    for (const LoggedRows& l : site.logged()) want(l.rows.size() == 2);
  }

  Setup<T> setup;
  RunFactory<T> factory;
  SiteOptions options;
  std::array<SitePair::Files, 2> saved;
};

const Case& chosen(std::uint8_t which) {
  static const std::array<std::unique_ptr<const Case>, 3> cases{
      std::make_unique<CaseOf<float>>(TiCoPD{.alpha = 0.1, .theta = 0.5, .eta = 0.1}, path(4), 0),
      std::make_unique<CaseOf<double>>(BEER{.eta = 0.02, .gamma = 0.2}, ring(4), 0),
      std::make_unique<CaseOf<float>>(ChocoSGD{.eta = 0.1, .gamma = 0.3}, path(4), 0.4)};
  return *cases[which % cases.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t choices = data[0];
  const std::span rest(data + 1, size - 1);
  const bool raw = (choices & site_case) == site_case;
  const Case& run = chosen(raw ? 0 : choices & site_case);
  SitePair::Files files;
  if (raw) {
    const auto bytes = std::as_bytes(rest);
    files[newer].assign(bytes.begin(), bytes.end());
  } else {
    SiteParts parts = run.right;
    edit(parts, rest);
    files[newer] = put_together(parts, (choices & site_hash) == 0);
  }
  if ((choices & site_two) != 0) files[older] = put_together(run.right, true);
  ++tried_reads;
  const bool finished = run.go_on(std::move(files), (choices & site_again) != 0);
  if (finished) ++accepted_reads;
  want(finished || raw || size > 1);
  return 0;
}
