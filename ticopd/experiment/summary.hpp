#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "ticopd/experiment/prepare.hpp"
#include "ticopd/run/run.hpp"

// What a run leaves in its folder, besides metrics.csv and the checkpoint.
namespace ticopd {

struct RunStatus {
  std::string status;       // running, interrupted, finished, diverged
  std::string reason = {};  // of a run that failed
};

// The content of run.json besides the setup and its results.
struct SummaryParts {
  const nlohmann::json& config;
  std::filesystem::path config_folder;
  std::string data;
  Spectrum spectrum;
  std::optional<CodecOptions> own_codec;  // of a method that brings one
};

// The content of run.json. `inputs` are the fingerprints of what the run reads (run/inputs.hpp).
template <class T>
nlohmann::json summary_json(const SummaryParts& parts, const Setup<T>& setup,
                            const nlohmann::json& inputs, const RunStatus& status,
                            const Solution<T>& solution);

// The same of a config.
template <class T>
nlohmann::json summary_json(const Config& config, const Prepared<T>& prepared,
                            const nlohmann::json& inputs, const RunStatus& status,
                            const Solution<T>& solution);

// final.npy. All ranks write it together: each has only its own rows, from `first_agent` on.
template <class T>
void write_final_rows(Transport& transport, const std::filesystem::path& folder, int agents,
                      const Field<T>& x, int first_agent, std::uint32_t round);

extern template nlohmann::json summary_json(const SummaryParts&, const Setup<float>&,
                                            const nlohmann::json&, const RunStatus&,
                                            const Solution<float>&);
extern template nlohmann::json summary_json(const SummaryParts&, const Setup<double>&,
                                            const nlohmann::json&, const RunStatus&,
                                            const Solution<double>&);
extern template nlohmann::json summary_json(const Config&, const Prepared<float>&,
                                            const nlohmann::json&, const RunStatus&,
                                            const Solution<float>&);
extern template nlohmann::json summary_json(const Config&, const Prepared<double>&,
                                            const nlohmann::json&, const RunStatus&,
                                            const Solution<double>&);
extern template void write_final_rows(Transport&, const std::filesystem::path&, int,
                                      const Field<float>&, int, std::uint32_t);
extern template void write_final_rows(Transport&, const std::filesystem::path&, int,
                                      const Field<double>&, int, std::uint32_t);

}  // namespace ticopd
