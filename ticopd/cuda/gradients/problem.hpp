#pragma once

#include "ticopd/objectives/sample_problem.hpp"

namespace ticopd::cuda {

using Problem = SampleProblem;

}  // namespace ticopd::cuda
