#pragma once

#include <string_view>

namespace ticopd {

// Readers of what ticopd wrote itself, likewise.
void read_run_json(std::string_view content);
void read_metrics(std::string_view content);       // as `ticopd report` does
void read_kept_metrics(std::string_view content);  // as --resume does
void read_trials(std::string_view content);
void read_compare(std::string_view content);

}  // namespace ticopd
