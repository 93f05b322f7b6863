#pragma once

#include "ticopd/algorithms/registry.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/data/table.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/network/channel_noise.hpp"
#include "ticopd/objectives/registry.hpp"
#include "ticopd/run/log_rounds.hpp"
#include "ticopd/run/metrics.hpp"

namespace ticopd {

// The tables of a config as the options of what they are about. ConfigError names the key.
AlgorithmOptions algorithm_options(const Config& config);
CodecOptions codec_options(const Config& config);
GraphOptions graph_options(const Config& config);
ObjectiveOptions objective_options(const Config& config);
DataOptions data_options(const Config& config);
std::uint64_t problem_seed(const Config& config);  // `seed` unless problem.seed is given
ChannelNoise channel_noise(const Config& config);
LogRounds log_rounds(const Config& config);
MetricLevel metric_level(const Config& config);
MetricScope metric_scope(const Config& config, int agents);
MetricColumns configured_columns(const Config& config);  // of metrics.csv

}  // namespace ticopd
