#pragma once

// The library in one include: graphs, codecs, algorithms, and solve().
#include "ticopd/algorithms/beer.hpp"
#include "ticopd/algorithms/choco_sgd.hpp"
#include "ticopd/algorithms/cp_sgd.hpp"
#include "ticopd/algorithms/def_atc.hpp"
#include "ticopd/algorithms/dgd.hpp"
#include "ticopd/algorithms/dgd_quantized.hpp"
#include "ticopd/algorithms/ticopd.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/solve.hpp"
#include "ticopd/graph/graph.hpp"
#include "ticopd/graph/mixing.hpp"
#include "ticopd/objectives/objective.hpp"
