#pragma once

namespace ticopd {

// Instructions that the processor has and the system lets us use.
bool cpu_has_avx512();  // F, BW, CD, DQ and VL: what all server processors with AVX-512 share
bool cpu_has_avx2();    // with FMA, as every processor that has it does

}  // namespace ticopd
