#include "ticopd/algorithms/table_runs.hpp"

namespace ticopd {

template RunFactory<float> table_run<float>(const std::any&);

}  // namespace ticopd
