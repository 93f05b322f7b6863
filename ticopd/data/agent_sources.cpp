#include "ticopd/data/agent_sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ticopd/data/class_labels.hpp"
#include "ticopd/data/reading.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t form_sparse = 2;
constexpr std::array form_words{"bytes, which are read as pixels", "numbers", "sparse samples"};

DataOptions of_agent(DataOptions options, std::size_t agent) {
  for (std::size_t at = 0; (at = options.data.find(agent_mark, at)) != std::string::npos;)
    options.data.replace(at, agent_mark.size(), std::to_string(agent));
  options.test.clear();
  return options;
}

[[noreturn]] void refuse(const DataOptions& options, std::size_t agent, const std::string& what) {
  throw FormatError(
      fmt::format("agent {}: {}: {}", agent, agent_place(options, agent).string(), what));
}

// The samples of one agent, with labels as in its file.
template <class T>
Dataset<T> read_shard(const DataOptions& options, std::size_t agent) {
  const DataOptions own = of_agent(options, agent);
  const auto [format, place] = data_place(own);
  try {
    Dataset<T> shard = whole(format->open<T>(place, own).train);
    if (!options.regression) distinct_classes(shard.labels(), place);
    return shard;
  } catch (const FormatError& e) {
    throw FormatError(fmt::format("agent {}: {}", agent, e.what()));
  }
}

template <class T>
ShardFacts facts_of(const std::vector<Dataset<T>>& shards, bool regression) {
  ShardFacts facts;
  for (const Dataset<T>& shard : shards) {
    facts.samples.push_back(shard.samples());
    facts.features.push_back(shard.features());
    facts.forms.push_back(shard.raw().index());
    if (regression) continue;
    facts.labels.insert(facts.labels.end(), shard.labels().begin(), shard.labels().end());
    std::ranges::sort(facts.labels);
    // Clang 14 cannot take std::ranges::unique of GCC's library.
    facts.labels.erase(std::unique(facts.labels.begin(), facts.labels.end()), facts.labels.end());
  }
  return facts;
}

ShardFacts joined(const std::vector<ShardFacts>& parts) {
  ShardFacts all;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const ShardFacts& part : parts) {
    append(all.samples, part.samples);
    append(all.features, part.features);
    append(all.forms, part.forms);
    append(all.labels, part.labels);
  }
  std::ranges::sort(all.labels);
  all.labels.erase(std::unique(all.labels.begin(), all.labels.end()), all.labels.end());
  return all;
}

// The config's facts about all agents.
ShardFacts stated(const DataOptions& options, std::size_t agents, std::size_t form) {
  ShardFacts all{.samples = {options.shard_samples.begin(), options.shard_samples.end()},
                 .features = std::vector<std::size_t>(agents, options.features),
                 .forms = std::vector<std::size_t>(agents, form),
                 .labels = {options.labels.begin(), options.labels.end()}};
  std::ranges::sort(all.labels);
  return all;
}

// A shard against what the config says of it.
template <class T>
void check_stated(const DataOptions& options, std::size_t agent, const Dataset<T>& shard) {
  const bool sparse = shard.raw().index() == form_sparse;
  if (options.features > 0 &&
      (sparse ? shard.features() > options.features : shard.features() != options.features))
    refuse(
        options, agent,
        fmt::format("{} features, and problem.features = {}", shard.features(), options.features));
  if (!options.shard_samples.empty() &&
      shard.samples() != static_cast<std::size_t>(options.shard_samples[agent]))
    refuse(options, agent,
           fmt::format("{} samples, and problem.shard_samples has {} for this agent",
                       shard.samples(), options.shard_samples[agent]));
  if (options.labels.empty()) return;
  for (std::size_t s = 0; s < shard.samples(); ++s)
    if (std::ranges::find(options.labels, shard.labels()[s]) == options.labels.end())
      refuse(options, agent,
             fmt::format("sample {} has label {}, and problem.labels = [{}]", s, shard.labels()[s],
                         fmt::join(options.labels, ", ")));
}

// The shards against each other. All processes see the same facts and say the same.
void check_alike(const DataOptions& options, const ShardFacts& all) {
  for (std::size_t i = 1; i < all.samples.size(); ++i) {
    if (all.forms[i] != all.forms[0])
      refuse(options, i,
             fmt::format("holds {}, and {} of agent 0 {}", form_words.at(all.forms[i]),
                         agent_place(options, 0).string(), form_words.at(all.forms[0])));
    if (all.forms[0] != form_sparse && all.features[i] != all.features[0])
      refuse(options, i,
             fmt::format("{} features, and {} of agent 0 has {}", all.features[i],
                         agent_place(options, 0).string(), all.features[0]));
  }
  if (!options.regression && all.labels.size() < 2)
    throw FormatError(fmt::format(
        "problem.data = \"{}\": all samples of all agents have the label {}, expected 2 "
        "classes or more",
        options.data, all.labels.empty() ? 0.0 : all.labels.front()));
}

// The test samples, and the format's own way to number classes.
template <class T>
SampleSource<T> open_test(const DataOptions& options, std::size_t some_agent) {
  DataOptions own = of_agent(options, some_agent);
  own.test = options.test;
  const auto [format, place] = data_place(own);
  if (options.test.empty() || format->takes("test")) {
    SampleSource<T> source = format->open<T>(place, own);
    if (options.test.empty()) source.test = {};  // of this agent's shard alone
    return source;
  }
  // A format that finds its test samples in a folder, beside those for training.
  SampleSource<T> source = format->open<T>(own.test_file(), own);
  if (!source.test)
    throw FormatError(fmt::format("problem.test = \"{}\": {} holds no test samples", options.test,
                                  own.test_file().string()));
  return source;
}

void check_test(const DataOptions& options, std::size_t features, std::size_t expected,
                bool sparse) {
  // Zeros at the end leave no trace in a sparse file.
  const bool fits = sparse ? features <= expected || options.features == 0 : features == expected;
  if (!fits)
    throw FormatError(fmt::format("problem.test = \"{}\": {} features, the agents' samples have {}",
                                  options.test, features, expected));
}

// problem.means and problem.deviations by themselves.
void check_moments(const DataOptions& options) {
  const std::size_t means = options.means.size(), deviations = options.deviations.size();
  if (means == 0 && deviations == 0) return;
  if (!options.normalize)
    throw ConfigError(
        "problem.means and problem.deviations: are used by problem.normalize = true alone; leave "
        "them out, or normalize");
  if (means != deviations)
    throw ConfigError(fmt::format(
        "problem.means has {} numbers, and problem.deviations {}: expected one of each feature in "
        "both",
        means, deviations));
  if (options.features > 0 && means != options.features)
    throw ConfigError(
        fmt::format("problem.means has {} numbers, and problem.features = {}: expected one of each "
                    "feature",
                    means, options.features));
}

// The config's, or those of all samples if they are here.
template <class T>
Moments moments_by(const DataOptions& options, const std::vector<Dataset<T>>& shards) {
  if (options.means.empty()) return moments_of(shards);
  if (const std::size_t features = shards.front().features(); features != options.means.size())
    throw ConfigError(fmt::format("problem.means has {} numbers, and the samples have {} features",
                                  options.means.size(), features));
  return {options.means, options.deviations};
}

}  // namespace

bool has_agent_sources(std::string_view data) {
  return data.find(agent_mark) != std::string_view::npos;
}

fs::path agent_place(const DataOptions& options, std::size_t agent) {
  return data_place(of_agent(options, agent)).place;
}

void check_agent_sources(const DataOptions& options, std::size_t agents) {
  const DataInfo& format = *data_place(of_agent(options, 0)).format;
  if (has_agent_sources(options.test))
    throw ConfigError(
        fmt::format("problem.test = \"{}\": test samples are of one source for all agents, without "
                    "{}",
                    options.test, agent_mark));
  if (!options.shard_samples.empty() && options.shard_samples.size() != agents)
    throw ConfigError(fmt::format("problem.shard_samples has {} numbers, and there are {} agents",
                                  options.shard_samples.size(), agents));
  check_moments(options);
  if (options.labels.empty()) return;
  if (options.regression)
    throw ConfigError(fmt::format(
        "problem.labels = [{}]: problem.objective = \"least_squares\" has targets, not classes; "
        "leave it out",
        fmt::join(options.labels, ", ")));
  std::vector<int> labels = options.labels;
  std::ranges::sort(labels);
  if (const auto twice = std::ranges::adjacent_find(labels); twice != labels.end())
    throw ConfigError(fmt::format("problem.labels has {} twice", *twice));
  if (labels.size() < 2)
    throw ConfigError(fmt::format("problem.labels = [{}]: expected 2 or more, for \"{}\"",
                                  fmt::join(labels, ", "), format.form()));
}

std::string_view missing_shard_fact(const DataOptions& options) {
  if (options.features == 0) return "problem.features";
  if (options.labels.empty() && !options.regression) return "problem.labels";
  if (options.shard_samples.empty()) return "problem.shard_samples";
  return options.normalize && options.means.empty() ? "problem.means" : "";
}

template <class T>
AgentSamples<T> load_agent_sources(const DataOptions& options, std::size_t agents,
                                   AgentRange hosted, const ShareFacts& share) {
  check_agent_sources(options, agents);
  const bool hosts_all = hosted.count == agents;
  if (options.normalize && options.means.empty() && !hosts_all)
    throw ConfigError(
        "problem.normalize = true: the mean needs the samples of all agents, and each process "
        "reads only those of its own; give problem.means and problem.deviations, or normalize the "
        "files and leave it false");
  if (const auto missing = missing_shard_fact(options); !hosts_all && !share && !missing.empty())
    throw ConfigError(
        fmt::format("{}: is missing; it must be known where each process reads only the samples of "
                    "its own agents",
                    missing));
  std::vector<Dataset<T>> shards;
  for (std::size_t i = 0; i < hosted.count; ++i) {
    shards.push_back(read_shard<T>(options, hosted.first + i));
    check_stated(options, hosted.first + i, shards.back());
  }
  const ShardFacts mine = facts_of(shards, options.regression);
  const ShardFacts all = hosts_all ? mine
                         : share   ? joined(share(mine))
                                   : stated(options, agents, mine.forms.front());
  check_alike(options, all);

  const bool sparse = all.forms.front() == form_sparse;
  Contents train{{}, std::max(options.features, *std::ranges::max_element(all.features))};
  const SampleSource<T> source = open_test<T>(options, hosted.first);
  Dataset<T> test = source.test ? whole(source.test) : Dataset<T>();
  Contents tested{test.labels(), source.test ? test.features() : train.features};
  check_test(options, tested.features, train.features, sparse);

  // Behind the labels of the hosted agents stand those of all agents, so that every process numbers
  // the same classes.
  const std::vector<double> occurring =
      options.labels.empty() ? all.labels : stated(options, agents, 0).labels;
  for (const Dataset<T>& shard : shards)
    train.labels.insert(train.labels.end(), shard.labels().begin(), shard.labels().end());
  train.labels.insert(train.labels.end(), occurring.begin(), occurring.end());
  const int classes = source.reconcile(train, tested);

  AgentSamples<T> samples{.shards = {},
                          .samples = all.samples,
                          .features = train.features,
                          .labels = occurring,
                          .test = {},
                          .classes = options.regression ? 0 : classes,
                          .moments = {}};
  auto label = train.labels.cbegin();
  for (Dataset<T>& shard : shards) {
    const auto end = label + static_cast<std::ptrdiff_t>(shard.samples());
    samples.shards.push_back(std::move(shard).relabelled(train.features, {label, end}));
    label = end;
  }
  if (source.test)
    samples.test = std::move(test).relabelled(train.features, std::move(tested.labels));
  if (options.normalize) {
    samples.moments = moments_by(options, samples.shards);
    normalize(samples.shards, samples.test, samples.moments);
  }
  return samples;
}

template AgentSamples<float> load_agent_sources(const DataOptions&, std::size_t, AgentRange,
                                                const ShareFacts&);
template AgentSamples<double> load_agent_sources(const DataOptions&, std::size_t, AgentRange,
                                                 const ShareFacts&);

}  // namespace ticopd
