#include "ticopd/data/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ticopd/data/agent_sources.hpp"
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

// shard-{agnt}.csv, unless that is the name of a file.
void refuse_misspelt_mark(const DataOptions& options, const std::filesystem::path& place) {
  const std::size_t open = options.data.find('{'), end = options.data.find('}', open);
  if (end == std::string::npos) return;
  const std::string mark = options.data.substr(open, end - open + 1);
  if (std::error_code ignored; std::filesystem::exists(place, ignored)) return;
  constexpr std::string_view known[] = {agent_mark};
  if (!nearest(mark, known).empty())
    throw ConfigError(fmt::format("problem.data = \"{}\": {} is no mark; did you mean \"{}\"?",
                                  options.data, mark, agent_mark));
}

}  // namespace

template <class T>
TrainTest<T> load(const DataOptions& options, const Choose& choose) {
  const auto [format, place] = data_place(options);
  if (!options.test.empty() && !format->takes("test")) refuse_test(options);
  refuse_misspelt_mark(options, place);
  SampleSource<T> source = format->open<T>(place, options);
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
