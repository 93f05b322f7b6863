#include "ticopd/experiment/epoch.hpp"

#include "ticopd/run/epoch.hpp"

namespace ticopd {

template <class T>
void begin_epoch(Prepared<T>& prepared, const Config& config, const EpochInfo& epoch) {
  begin_epoch(prepared.setup, epoch.number);
  if (epoch.schedules_after == 0) return;
  AlgorithmOptions options = configured_options(config);
  for (auto& [name, schedule] : options.parameters)
    schedule = schedule.after(epoch.schedules_after);
  Warnings said_before;
  prepared.algorithm =
      make_algorithm<T>(options, prepared.spectrum, said_before, prepared.setup.iterations);
}

template void begin_epoch(Prepared<float>&, const Config&, const EpochInfo&);
template void begin_epoch(Prepared<double>&, const Config&, const EpochInfo&);

}  // namespace ticopd
