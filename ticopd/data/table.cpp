#include "ticopd/data/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ticopd/data/csv.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/libsvm.hpp"
#include "ticopd/data/npy_source.hpp"
#include "ticopd/data/synthetic.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

template <class T>
SampleSource<T> open_mnist(const fs::path&, const DataOptions& o) {
  return idx_source<T>(fetch_mnist(o.offline, o.say));
}

template <class T>
SampleSource<T> open_idx(const fs::path& folder, const DataOptions&) {
  return idx_source<T>(folder);
}

template <class T>
SampleSource<T> open_synthetic(const fs::path&, const DataOptions& o) {
  return o.regression ? synthetic_regression_source<T>(o.samples, o.features, o.seed)
                      : synthetic_classes_source<T>(o.samples, o.features, o.classes, o.seed);
}

template <class T>
SampleSource<T> open_digits(const fs::path&, const DataOptions& o) {
  return digits_source<T>(o.samples, o.seed);
}

}  // namespace

// A new format is a file with a function that opens it, and a line here.
Table<DataInfo>& data_table() {
  static Table<DataInfo> table{
      "problem.data",
      {{"mnist",
        "",
        {},
        "70,000 handwritten digits, fetched once into the cache",
        open_mnist<float>,
        open_mnist<double>},
       {"idx",
        "DIR",
        {},
        "a folder with the four IDX files of a set like MNIST, plain or .gz",
        open_idx<float>,
        open_idx<double>},
       {"libsvm",
        "FILE",
        {"test"},
        "sparse `label index:value ...` lines, plain or .gz; test samples from FILE.t or "
        "problem.test",
        open_libsvm<float>,
        open_libsvm<double>},
       {"csv",
        "FILE",
        {"test"},
        "numbers between commas, the label first, a header without numbers allowed, plain or .gz; "
        "test samples from problem.test",
        open_csv<float>,
        open_csv<double>},
       {"npy",
        "DIR",
        {},
        "X.npy and y.npy (X_test.npy, y_test.npy), bytes as pixels, u8/255; least_squares: also "
        "A.npy (n x m x d) and b.npy (n x m), agent by agent, without partition",
        open_npy<float>,
        open_npy<double>},
       {"synthetic",
        "",
        {"samples", "features", "classes"},
        "Gaussian classes; for least_squares a linear regression",
        open_synthetic<float>,
        open_synthetic<double>},
       {"digits",
        "",
        {"samples"},
        "28 x 28 digits drawn in code",
        open_digits<float>,
        open_digits<double>}}};
  return table;
}

// A new option is a member of DataOptions and a line here.
Table<Option<DataOptions>>& data_options_table() {
  using O = DataOptions;
  static Table<Option<O>> table{
      "data option",
      {option<&O::data>("data", domain::text(), "the samples; see the forms below"),
       option<&O::test>("test", domain::text(),
                        "the file of test samples; with `{agent}` one for all agents"),
       option<&O::normalize>("normalize", domain::boolean(),
                             "every feature to mean 0 and deviation 1, measured on the training "
                             "samples"),
       option<&O::max_samples>("max_samples", domain::whole(0, INT32_MAX),
                               "only the first so many training samples; 0: all"),
       option<&O::samples>("samples", domain::whole(1, INT32_MAX), "training samples"),
       option<&O::features>("features", domain::whole(1, 10'000'000),
                            "numbers per sample; with `{agent}` left out: as the files have it"),
       option<&O::classes>("classes", domain::whole(2, 10'000), "different labels"),
       option<&O::labels>("labels", domain::layer_sizes(INT32_MIN, INT32_MAX),
                          "all labels that an agent may have; left out: those in the files"),
       option<&O::shard_samples>("shard_samples", domain::layer_sizes(1, INT32_MAX),
                                 "training samples of each agent; left out: as many as its file "
                                 "has"),
       option<&O::means>("means", domain::numbers(domain::number(-domain::infinity)),
                         "with `normalize`: of each feature, instead of measured ones"),
       option<&O::deviations>("deviations", domain::numbers(domain::above(0)),
                              "with `normalize`: of each feature, as `means`")}};
  return table;
}

bool DataInfo::takes(std::string_view option) const {
  return std::ranges::find(options, option) != options.end();
}

fs::path DataOptions::test_file() const {
  if (test.empty()) return {};
  const std::string format = data.substr(0, data.find(':') + 1);
  if (test.starts_with(format)) return base / test.substr(format.size());
  const auto colon = test.find(':');
  if (colon != std::string::npos && data_table().find(test.substr(0, colon)) != nullptr)
    throw ConfigError(
        fmt::format("problem.test = \"{}\": allowed is a file of the format of "
                    "problem.data, {}FILE, or the file's name alone",
                    test, format));
  return base / test;
}

DataPlace data_place(const DataOptions& options) {
  const std::string& given = options.data;
  const auto colon = given.find(':');
  const std::string name = given.substr(0, colon);
  const std::string place = colon == std::string::npos ? "" : given.substr(colon + 1);
  if (const DataInfo* info = data_table().find(name)) {
    if (!info->place.empty() && place.empty())
      throw ConfigError(fmt::format("problem.data = \"{}\": expected {}", given, info->form()));
    if (info->place.empty() && colon != std::string::npos)
      throw ConfigError(fmt::format("problem.data = \"{}\": nothing may follow {}", given, name));
    return {info, options.base / place};  // an absolute place replaces the base
  }
  std::vector<std::string> forms;
  for (const DataInfo& info : data_table()) forms.push_back(info.form());
  const std::string_view near = nearest(name, data_table().names());
  throw ConfigError(fmt::format("problem.data = \"{}\": allowed are {}{}", given,
                                fmt::join(forms, ", "),
                                near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
}

}  // namespace ticopd
