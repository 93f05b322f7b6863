#include "ticopd/data/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ticopd/error.hpp"

namespace ticopd {
namespace {

[[noreturn]] void refuse_test(const DataOptions& options) {
  std::vector<std::string> able;
  for (const DataInfo& info : data_table())
    if (info.takes("test")) able.push_back(info.form());
  throw ConfigError(fmt::format("problem.test = \"{}\": allowed with {}, problem.data is \"{}\"",
                                options.test, fmt::join(able, " and "), options.data));
}

}  // namespace

template <class T>
TrainTest<T> load(const DataOptions& options, const Choose& choose) {
  const auto [format, place] = data_place(options);
  if (!options.test.empty() && !format->takes("test")) refuse_test(options);
  SampleSource<T> source;
  if constexpr (sizeof(T) == 4)
    source = format->open_float(place, options);
  else
    source = format->open_double(place, options);
  if (options.regression)
    source.reconcile = [reconcile = source.reconcile](Contents& train, Contents& test) {
      reconcile(train, test);
      return 0;
    };
  TrainTest<T> data = gather(source, {options.max_samples, options.normalize, choose});
  data.name = options.data;
  return data;
}

template TrainTest<float> load(const DataOptions&, const Choose&);
template TrainTest<double> load(const DataOptions&, const Choose&);

}  // namespace ticopd
