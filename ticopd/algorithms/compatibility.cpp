#include "ticopd/algorithms/compatibility.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace ticopd {

void check_range(const std::string& key, const Schedule& s, const Range& range) {
  if (range.constant && !s.is_constant())
    throw ConfigError(key + ": allowed is one number, and no schedule");
  const double v = s(1);
  if (std::isinf(v)) throw ConfigError(fmt::format("{} = {}: allowed is a finite number", key, v));
  if (v <= range.high && (range.low_allowed ? v >= range.low : v > range.low) &&
      (!range.whole || v == std::floor(v))) {
    // A schedule falls, or rises without bound: its value at the last possible round tells which.
    if (s(std::numeric_limits<std::uint32_t>::max()) > range.high)
      throw ConfigError(
          fmt::format("{}: the schedule rises above {:g}, which is the most allowed", key,
                      range.high));
    return;
  }
  if (range.whole)
    throw ConfigError(fmt::format("{} = {:g}: allowed is a whole number from {:g} to {:g}", key, v,
                                  range.low, range.high));
  throw ConfigError(fmt::format("{} = {:g}: allowed is {} {:g}{}", key, v,
                                range.low_allowed ? "at least" : "above", range.low,
                                std::isinf(range.high) ? "" : fmt::format(", at most {:g}",
                                                                          range.high)));
}

void check_graph(std::string_view algorithm, const AlgorithmNeeds& needs, const Graph& graph,
                 const LinkSchedule& links) {
  if (needs.centre) require_centre(graph);
  if (links.one_edge && links.drop > 0)
    throw ConfigError(fmt::format(
        "graph.drop = {}: with graph.kind = \"random_edge\" one edge is all there is in a round",
        links.drop));
  if (links.varies() && (needs.centre || needs.fixed_graph))
    throw ConfigError(fmt::format(
        "graph.drop, graph.kind = \"random_edge\": {} needs all of its links in every round",
        algorithm));
}

void check_lossy_codec(std::string_view algorithm, bool uncompressed, bool own_codec,
                       std::string_view key, std::string_view given) {
  if (own_codec)
    throw ConfigError(fmt::format("{}: {} brings a codec of its own, leave {} out", given,
                                  algorithm, key));
  if (uncompressed)
    throw ConfigError(
        fmt::format("{}: {} sends its model as it is, allowed is identity; for compressed messages "
                    "take algorithm.name = \"choco_sgd\", or \"dgd_quantized\" to see why "
                    "quantising the model itself fails",
                    given, algorithm));
}

std::string biased_codec(std::string_view algorithm, const AlgorithmNeeds& needs,
                         const ErrorBound& bound, const CodecOptions* options) {
  if (!needs.unbiased_codec || bound.unbiased) return {};
  if (options == nullptr)
    return fmt::format("the codec is biased, and {} needs an unbiased one, or it may diverge",
                       algorithm);
  return fmt::format(
      "codec.kind = \"{}\" is biased here, and {} needs an unbiased codec, or it may diverge; set {}",
      options->kind, algorithm, unbiased_alternative(*options));
}

}  // namespace ticopd
