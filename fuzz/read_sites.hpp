#pragma once

#include <string_view>

namespace ticopd {

// Readers of the files of sites: each throws an Error of ours, or accepts the content.
void read_roster(std::string_view content);
void read_signature(std::string_view content);
void read_signed_roster(std::string_view content);
void read_key(std::string_view content);
void read_site_run(std::string_view content);
void read_site_metrics(std::string_view content);
void read_site_status(std::string_view content);

}  // namespace ticopd
