#pragma once

#include <memory>
#include <string>

#include "ticopd/experiment/prepare.hpp"

namespace ticopd {

// Reads the samples that a config names and makes its objective of them. Sets `data` and `labels`
// of Prepared.
template <class T>
std::shared_ptr<const Objective<T>> load_objective(const Config& config,
                                                   const PrepareOptions& options,
                                                   const Graph& graph, std::string& name,
                                                   std::string& labels);

extern template std::shared_ptr<const Objective<float>> load_objective(const Config&,
                                                                       const PrepareOptions&,
                                                                       const Graph&, std::string&,
                                                                       std::string&);
extern template std::shared_ptr<const Objective<double>> load_objective(const Config&,
                                                                        const PrepareOptions&,
                                                                        const Graph&, std::string&,
                                                                        std::string&);

}  // namespace ticopd
