#pragma once

// The library in one include: graphs, codecs, algorithms, and solve().
#include "ticopd/algorithms/all.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/error.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/objectives/objective.hpp"
#include "ticopd/run/solve.hpp"
