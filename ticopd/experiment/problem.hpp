#pragma once

#include <memory>
#include <string>

#include "ticopd/experiment/prepare.hpp"

namespace ticopd {

// Reads the samples that a config names and makes its objective of them. `name` becomes what was
// read; `device` gets what a GPU computes with, if the run is for one.
template <class T>
std::shared_ptr<const Objective<T>> load_objective(const Config& config,
                                                   const PrepareOptions& options,
                                                   const Graph& graph, std::string& name,
                                                   cuda::Options& device);

extern template std::shared_ptr<const Objective<float>> load_objective(const Config&,
                                                                       const PrepareOptions&,
                                                                       const Graph&, std::string&,
                                                                       cuda::Options&);
extern template std::shared_ptr<const Objective<double>> load_objective(const Config&,
                                                                        const PrepareOptions&,
                                                                        const Graph&, std::string&,
                                                                        cuda::Options&);

}  // namespace ticopd
