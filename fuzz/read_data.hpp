#pragma once

#include <string_view>

namespace ticopd {

// Readers of data and of what describes an experiment: each throws an Error of ours, or accepts the
// content and aborts if it is another one after it was written and read again.
void read_config(std::string_view content);
void read_edges(std::string_view content);
void read_csv_file(std::string_view content);
void read_libsvm_file(std::string_view content);
void read_npy_file(std::string_view content);
void read_idx_file(std::string_view content);

}  // namespace ticopd
