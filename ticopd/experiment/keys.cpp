#include "ticopd/experiment/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ticopd/algorithms/parameter.hpp"
#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/data/agent_sources.hpp"
#include "ticopd/data/partition.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/network/channel_noise.hpp"
#include "ticopd/numeric/seed.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/log_rounds.hpp"
#include "ticopd/system/text.hpp"
#include "ticopd/transport/table.hpp"
#include "ticopd/transport/transport.hpp"

namespace ticopd {
namespace {

constexpr std::int64_t rounds = 0xffffffff;
constexpr OptionValue none;

std::vector<std::string_view> transport_names() {
  return transport_table().names();
}

template <class Options, class Kinds>
void append(std::vector<KeyInfo>& all, const std::string& section,
            const Table<Option<Options>>& options, const Kinds& kinds,
            const std::vector<std::string>& choosers) {
  for (const OptionInfo& option : options) {
    KeyInfo key{option, {}, choosers, {}};
    key.name = section + "." + option.name;
    for (const auto& kind : kinds)
      if (std::ranges::find(kind.options, option.name) != kind.options.end())
        key.takers.push_back(kind.name);
    all.push_back(std::move(key));
  }
}

// Keys that go with {agent} in problem.data, which then is a kind of its own, and those that do
// not.
void mark_agent_sources(std::vector<KeyInfo>& all) {
  for (const char* name : {"test", "features", "labels", "shard_samples", "means", "deviations"}) {
    KeyInfo& key = *std::ranges::find(all, fmt::format("problem.{}", name), &KeyInfo::name);
    key.takers.emplace_back(agent_mark);
    key.finders.emplace_back(agent_mark);
  }
  for (const char* name : {"partition", "partition_alpha", "max_samples"}) {
    KeyInfo& key = *std::ranges::find(all, fmt::format("problem.{}", name), &KeyInfo::name);
    key.for_one_source = true;
    key.choosers.emplace_back("problem.data");
  }
}

}  // namespace

// A new key is a line here, and the code that reads it.
Table<KeyInfo>& plain_keys() {
  using namespace domain;
  using Text = std::string;
  static Table<KeyInfo> table{
      "key",
      {
          {"name", text(), none, "names the run folder; left out: the file's name"},
          {"seed", whole(0, INT64_MAX), std::int64_t{default_seed},
           "decides the graph, the split, the start, batches and rounding; with `problem.seed` "
           "batches, rounding and dropped links only"},
          {"iterations", whole(1, rounds), std::int64_t{default_iterations}, "rounds"},
          {"precision", word({"float", "double"}), Text("float"), "of the models and gradients"},

          {"problem.seed", whole(0, INT64_MAX), none,
           "decides the graph, the split, drawn data, the start, and the samples and agents of "
           "`log.samples` and `log.agents`: runs with other `seed` then differ in their noise "
           "only. "
           "Left out: `seed`"},
          {"problem.partition", word(words_of(Partition{})), Text("label"),
           "`label`: class c to agent c mod n; `sorted`: equal slices after sorting by label; "
           "`iid`: equal slices of a shuffle; `dirichlet`: random shares of each class. Every "
           "agent gets a sample, or it is an error"},
          {{"problem.partition_alpha", above(0), 0.3,
            "`dirichlet`: the smaller, the less alike the agents"},
           {"dirichlet"},
           {"problem.partition"}},
          {"problem.batch", whole_or("full", 1), Text("full"),
           "samples per gradient, drawn from seed, agent and round"},

          {"graph.weights", word(words_of(Weights{})), Text("metropolis"),
           "W: `metropolis`, w_ij = 1 / (1 + max(deg_i, deg_j)); `lazy_metropolis`, (I + W) / 2"},

          {"network.transport", word(transport_names), Text("none"), "who carries the messages"},
          {"network.ranks", whole(1, 1'000'000), std::int64_t{2},
           "`threads`: at most as many as agents. With MPI mpirun has the number"},
          // A year at most: clocks count no centuries.
          {"network.deadline_s", above(0, 31'536'000), default_deadline_s,
           "how long a rank waits for another before it is given up (code 75); longer than the "
           "longest gradient, measurement or checkpoint of a rank"},
          {"network.give_up_s", number(0, 31'536'000), 0.0,
           "how long a site waits for a neighbour before it ends with code 75; 0: for ever"},
          {"network.noise", word(words_of(ChannelNoise::Kind{})), Text("none"),
           "`uniform` on +- scale, or `gaussian`: a noisy channel, simulated: added to what a "
           "message decodes to, the same at sender and receivers"},
          {"network.noise_scale", number(0), 0.0, "with `network.noise`: above 0"},

          {"cuda.tf32", boolean(), false,
           "with `--device cuda`: products of float features in TF32, three digits, and faster. u8 "
           "features never need it"},

          {"log.points", whole(1, 100'000), std::int64_t{LogRounds{}.points},
           "rounds 0 and 1, then log-spaced so that 10^5 rounds give about so many rows, then the "
           "last"},
          {"log.every", whole(1, rounds), none, "or every so many rounds"},
          {"log.lyapunov", boolean(), false,
           "true: the column `lyapunov` in metrics.csv, F_t of TiCoPD's theorem (docs/theory.md); "
           "`ticopd` with constant step sizes and `network.transport = \"none\"` only"},

          {"log.level", word({"full", "local", "rows"}), Text("full"),
           "`full`: every model on all data, with gradients and the test set. `local`: each "
           "agent's "
           "own loss on its own samples, the column `loss_local`. `rows`: consensus, surrogates, "
           "duals and bits only"},
          {"log.samples", whole(0, INT32_MAX), std::int64_t{0},
           "loss and gradients over so many training samples, drawn once from the seed: from each "
           "agent in proportion to what it holds, at least one; 0: all"},
          {"log.agents", whole(0, 1'000'000), std::int64_t{0},
           "`full` measures the models of so many agents, drawn once from the seed: `loss_max`, "
           "`grad_norm2_max` and `accuracy_min` are the worst of these; 0: all"},

          {"checkpoint.every_s", number(0), 60.0, "seconds between checkpoints; 0: not by time"},
          {"checkpoint.every", whole(0, rounds), std::int64_t{0},
           "rounds between checkpoints; 0: not by rounds"},

          {"plugins.path", texts(), none,
           "files of one's own that this config needs, relative to its folder. They must be given "
           "with "
           "`--plugin`: a config loads no code"},

          {"report.title", text(), none, "title of the page; left out: `name`, or the file's name"},
          {"report.targets", domain::table(), none,
           "when did each run reach it? A table of metric and value: `{ accuracy_min = 0.9, "
           "loss_max = 0.3 }`. Left out: for `loss_max` and `accuracy_min` the median of the runs' "
           "best values, rounded to two digits, so that about half reach it"},
          {"report.bits", word({"paper", "payload", "link"}), none,
           "x axis of the figure's bit panels: `payload` (as encoded), `paper` (the papers' "
           "count), `link` (times the neighbours). Left out: `payload`"},

          {"report.band", word({"range", "deviation"}), none,
           "runs that differ in their seed make a group: `range`: its median, smallest and largest "
           "value; `deviation`: its mean, minus and plus the sample standard deviation. Left out: "
           "`range`"},

          {"figure.preset", word({"paper-1col", "paper-2col", "slides"}), none,
           "sizes, font and panels that suit one column or the whole width of a paper, or a slide; "
           "the other keys go first"},
          {"figure.width", text(), none,
           "such as `8.5 cm`, in `cm`, `mm`, `in` or `pt`; left out: `7.16 in`"},
          {"figure.height", text(), none, "left out: what panels and legend need"},
          {"figure.font", text(), none,
           "family, size, or both: `Times, 9 pt`; left out: `Arial, 8 pt`"},
          {"figure.panels", texts(), none,
           "each `METRIC:X`, X a column such as `iteration`, `bits_payload` or `seconds`, or "
           "`bits`, which is `report.bits`. With a [sweep] also `end:METRIC` and "
           "`bits_to:METRIC=VALUE` against the swept key, or with `:KEY` behind it against that "
           "one. Left out: loss, gradient, consensus and accuracy against iterations and bits"},
          {"figure.axes", text_table(), none,
           "scale, range or both, by column: `{ loss_max = \"log 1e-4..10\", accuracy_min = "
           "\"0.9..1\" }`"},
          {"figure.colours", text_table(), none,
           "by label or group: `#RRGGBB`, or blue, vermilion, green, pink, orange, sky, black, "
           "brown"},
          {"figure.legend", word({"below", "right", "off"}), none, "left out: `below`"},
          {"figure.legend_columns", whole(1, 12), none, "left out: as many as fit"},
          {"figure.format", texts({"svg", "pdf", "png", "eps"}), none,
           "which files `figure.FORMAT` are drawn; left out: svg, pdf and png"},

          {"tune.metric", text(), none,
           "what is to be best after a full run, or `bits_to:accuracy_min=0.95`; left out: "
           "`loss_max`. `--metric` goes first"},
          {"tune.runs", whole(2, 1'000'000), none,
           "cost of the search in full runs; left out: 40. `--runs` goes first"},
          {"tune.seed", whole(0, INT64_MAX), none,
           "which points are tried; left out: `seed`. The runs themselves use `seed` or "
           "`tune.seeds`"},
          {"tune.seeds", seeds(), none,
           "runs of each trial: so many from `seed` on, or a list of seeds; a trial counts with "
           "their "
           "median. Left out: one. `--seeds` goes first"},
          {"tune.search", domain::table(), none,
           "other ranges, values to keep, keys of codec and graph: `{ alpha = [0.01, 1], "
           "theta = 0.3, \"codec.bits\" = [2, 4, 8] }`; see "
           "docs/tuning.md"},
      }};
  return table;
}

void refuse_unknown_key(const std::string& key, std::span<const KeyInfo> keys) {
  std::vector<std::string> names{"algorithm.name", "algorithm", "seeds", "sweep"};
  for (const KeyInfo& k : keys) {
    const std::string table = k.name.substr(0, k.name.find('.'));
    if (table != k.name && std::ranges::find(names, table) == names.end()) names.push_back(table);
  }
  for (const KeyInfo& k : keys) names.push_back(k.name);
  for (const AlgorithmInfo& a : algorithm_table())
    for (const ParameterInfo& p : a.parameters)
      names.push_back(fmt::format("algorithm.{}", p.name));
  const std::vector<std::string_view> known(names.begin(), names.end());
  // A key is often right but in the wrong table, or misspelt after the dot.
  const auto last = [](std::string_view k) { return k.substr(k.rfind('.') + 1); };
  const auto in_another_table = [&](std::string_view k) { return last(k) == last(key); };
  const auto moved = std::ranges::find_if(known, in_another_table);
  const std::string_view best = moved != known.end() ? *moved : nearest(key, known);
  // A message ends at the first NUL, and a key may begin with one.
  throw ConfigError(fmt::format("{}: no such key{}", printable(key),
                                best.empty() ? std::string("; `ticopd run --help` names the manual")
                                             : fmt::format("; did you mean \"{}\"?", best)));
}

std::vector<KeyInfo> config_keys() {
  std::vector<KeyInfo> all;
  const auto append_plain = [&](bool inside_tables) {
    for (const KeyInfo& key : plain_keys())
      if ((key.name.find('.') != std::string::npos) == inside_tables) all.push_back(key);
  };
  append_plain(false);
  append(all, "problem", objective_options_table(), objective_table(), {"problem.objective"});
  append(all, "problem", data_options_table(), data_table(), {"problem.data"});
  for (KeyInfo& key : all)
    key.for_samples =
        key.name.starts_with("problem.") && key.takers.empty() && key.name != "problem.objective";
  append(all, "graph", graph_options_table(), graph_table(), {"graph.kind"});
  for (const GraphInfo& graph : graph_table())
    if (graph.counts_agents)
      std::ranges::find(all, "graph.agents", &KeyInfo::name)->finders.push_back(graph.name);
  append(all, "codec", codec_options_table(), codec_table(), {"codec.kind", "codec.then"});
  append_plain(true);
  for (KeyInfo& key : all)
    if (key.name.starts_with("problem.partition")) key.for_samples = true;
  mark_agent_sources(all);
  return all;
}

}  // namespace ticopd
