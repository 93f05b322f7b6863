#include "ticopd/algorithms/table_runs.hpp"

namespace ticopd {

template RunFactory<double> table_run<double>(const std::any&);

}  // namespace ticopd
