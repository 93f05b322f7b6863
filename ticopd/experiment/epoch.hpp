#pragma once

#include "ticopd/experiment/prepare.hpp"

namespace ticopd {

// A later epoch of a network of sites: the same config again, with other messages.
struct EpochInfo {
  std::uint32_t number = 1;
  std::uint32_t schedules_after = 0;  // rounds: where step sizes go on that depend on the round
};

template <class T>
void begin_epoch(Prepared<T>& prepared, const Config& config, const EpochInfo& epoch);

extern template void begin_epoch(Prepared<float>&, const Config&, const EpochInfo&);
extern template void begin_epoch(Prepared<double>&, const Config&, const EpochInfo&);

}  // namespace ticopd
