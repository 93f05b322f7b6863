#include "ticopd/experiment/summary.hpp"

#include <nlohmann/json.hpp>

#include "ticopd/data/npy.hpp"
#include "ticopd/experiment/options.hpp"
#include "ticopd/experiment/plugins.hpp"
#include "ticopd/experiment/run_json.hpp"
#include "ticopd/run/machine.hpp"
#include "ticopd/run/shared_file.hpp"

namespace ticopd {

namespace fs = std::filesystem;
using nlohmann::json;

template <class T>
json summary_json(const Config& config, const Prepared<T>& prepared, const json& inputs,
                  const RunStatus& status, const Solution<T>& solution) {
  const SummaryParts parts{config.tree(), config.folder(), prepared.data, prepared.spectrum,
                           algorithm_needs(configured_options(config)).codec};
  json j = summary_json(parts, prepared.setup, inputs, status, solution);
  // So that reports can read metrics.csv without the plug-in that brought a metric.
  for (const MetricInfo& column : configured_columns(config))
    if (column.added) j["own_columns"].push_back(column.column);
  return j;
}

template <class T>
json summary_json(const SummaryParts& parts, const Setup<T>& s, const json& inputs,
                  const RunStatus& status, const Solution<T>& solution) {
  json j = machine_json();
  j["device"] = name_of(s.execution.device);
  if (json plugins = plugins_json(); !plugins.empty()) j["plugins"] = std::move(plugins);
  j["status"] = status.status;
  if (!status.reason.empty()) j["reason"] = status.reason;
  j["iterations"] = solution.rounds;
  j["digest"] = solution.digest;
  j["config"] = parts.config;
  j["config_folder"] = fs::absolute(parts.config_folder).lexically_normal().string();
  j["data"] = parts.data;
  j["agents"] = s.graph.agents();
  j["edges"] = edges_json(s.graph);
  j["dimension"] = s.objective->dimension();
  j["layout"] = layout_json(s.objective->segments());
  j["inputs"] = inputs;
  j["spectrum"] = {{"laplacian_max", parts.spectrum.laplacian_max},
                   {"laplacian_min", parts.spectrum.laplacian_min},
                   {"gap", parts.spectrum.gap}};
  if (const auto& own = parts.own_codec)
    j["codec"] = {{"kind", own->kind}, {"bits", own->bits}};  // the method's own codec
  if (!solution.ledger.empty()) j["ledger"] = ledger_json(solution.ledger, s.graph);
  if (!solution.last.agents.empty()) j["last"] = last_json(solution.last);
  if (!solution.transport.empty()) {
    j["transport"] = json::parse(solution.transport);
    const json devices = devices_json(j["transport"]["parts"]);
    if (!devices.empty()) j["device"] = devices.back()["device"];
    if (devices.size() > 1) j["devices"] = devices;
    j["segments"] = segments_json(j["transport"]["parts"]);
  }
  j["threads"] = s.execution.threads * s.execution.ranks;
  j["seconds"] = {{"total", solution.seconds},
                  {"gradient", solution.phases.gradient},
                  {"exchange", solution.phases.exchange},
                  {"update", solution.phases.update},
                  {"metrics", solution.phases.metrics}};
  j["share"] = shares_json(solution.phases, solution.spent, s.watch.level);
  j["memory"] = memory_json(solution.state_bytes, solution.resident_bytes, s.objective->layouts());
  j["date"] = utc_now();
  return j;
}

template <class T>
void write_final_rows(Transport& transport, const fs::path& folder, int agents, const Field<T>& x,
                      int first_agent, std::uint32_t round) {
  const std::size_t shape[] = {static_cast<std::size_t>(agents), x.cols()};
  const std::string head = npy_head<T>(shape);
  const std::uint64_t before = static_cast<std::uint64_t>(first_agent) * x.cols() * sizeof(T);
  const FilePiece mine{head.size() + before, std::as_bytes(std::span(x.data(), x.size()))};
  write_together(transport, folder / "final.npy", round, std::as_bytes(std::span(head)),
                 std::span(&mine, 1));
}

template json summary_json(const SummaryParts&, const Setup<float>&, const json&, const RunStatus&,
                           const Solution<float>&);
template json summary_json(const SummaryParts&, const Setup<double>&, const json&, const RunStatus&,
                           const Solution<double>&);
template json summary_json(const Config&, const Prepared<float>&, const json&, const RunStatus&,
                           const Solution<float>&);
template json summary_json(const Config&, const Prepared<double>&, const json&, const RunStatus&,
                           const Solution<double>&);
template void write_final_rows(Transport&, const fs::path&, int, const Field<float>&, int,
                               std::uint32_t);
template void write_final_rows(Transport&, const fs::path&, int, const Field<double>&, int,
                               std::uint32_t);

}  // namespace ticopd
