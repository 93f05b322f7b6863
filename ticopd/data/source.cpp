#include "ticopd/data/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "ticopd/data/class_labels.hpp"
#include "ticopd/data/csv.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/libsvm.hpp"
#include "ticopd/data/normalize.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/data/synthetic.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

constexpr std::array table{
    DataInfo{"mnist", "70,000 handwritten digits, fetched once into the cache"},
    DataInfo{"idx:DIR", "a folder with the four IDX files of a set like MNIST, plain or .gz"},
    DataInfo{"libsvm:FILE",
             "sparse `label index:value ...` lines; test samples from FILE.t or problem.test"},
    DataInfo{"csv:FILE", "numbers between commas, the label first; test samples from problem.test"},
    DataInfo{"npy:DIR", "X.npy and y.npy (X_test.npy, y_test.npy); least_squares: A.npy and b.npy"},
    DataInfo{"synthetic", "Gaussian classes, or a linear regression: samples, features, classes"},
    DataInfo{"digits", "28 x 28 digits drawn in code: samples"},
};

// `kind` or `kind:place`, as problem.data gives it.
struct Form {
  std::string kind;
  std::string place;
};

bool takes_place(std::string_view name) {
  return name.find(':') != std::string_view::npos;
}

Form parse_form(const std::string& given) {
  const auto colon = given.find(':');
  const Form form{given.substr(0, colon),
                  colon == std::string::npos ? "" : given.substr(colon + 1)};
  std::vector<std::string_view> forms;
  std::vector<std::string_view> kinds;
  for (const DataInfo& info : table) {
    const std::string_view kind = info.name.substr(0, info.name.find(':'));
    forms.push_back(info.name);
    kinds.push_back(kind);
    if (kind != form.kind) continue;
    if (takes_place(info.name) && form.place.empty())
      throw ConfigError(fmt::format("problem.data = \"{}\": expected {}", given, info.name));
    if (!takes_place(info.name) && colon != std::string::npos)
      throw ConfigError(fmt::format("problem.data = \"{}\": nothing may follow {}", given, kind));
    return form;
  }
  const std::string_view near = nearest(form.kind, kinds);
  throw ConfigError(fmt::format("problem.data = \"{}\": allowed are {}{}", given,
                                fmt::join(forms, ", "),
                                near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near)));
}

// Reads a training file and, unless `test` is empty, a test file; then the labels become classes.
template <class T, class Read>
TrainTest<T> read_files(const fs::path& file, const fs::path& test, bool regression, Read read) {
  TrainTest<T> data;
  data.train = read(file);
  if (!test.empty()) {
    data.test = read(test);
    if (data.test.features() != data.train.features())
      throw FormatError(fmt::format("{}: {} features, the training file {} has {}", test.string(),
                                    data.test.features(), file.string(), data.train.features()));
  }
  if (!regression) number_classes(data, file, test);
  return data;
}

template <class T>
TrainTest<T> load_libsvm(const fs::path& file, fs::path test, bool regression) {
  const fs::path beside = file.string() + ".t";
  if (std::error_code ignored; test.empty() && fs::exists(beside, ignored)) test = beside;
  // The features are the most that either file has, since zeros at the end leave no trace in one.
  std::size_t features = 0;
  TrainTest<T> data;
  data.train = read_libsvm<T>(file);
  if (!test.empty()) {
    data.test = read_libsvm<T>(test, data.train.features());
    features = data.test.features();
  }
  data.train = widened(data.train, features);
  if (!regression) number_classes(data, file, test);
  return data;
}

template <class T>
Dataset<T> read_npy_pair(const fs::path& x_file, const fs::path& y_file) {
  auto y = read_npy<double>(y_file);
  const auto pack = [&](auto x) {
    if (x.shape.size() != 2 || x.data.empty())
      throw FormatError(fmt::format("{}: shape ({}), expected samples x features", x_file.string(),
                                    fmt::join(x.shape, ", ")));
    if (y.shape.size() != 1 || y.shape[0] != x.shape[0])
      throw FormatError(fmt::format("{}: shape ({}), expected ({}), one for each row of {}",
                                    y_file.string(), fmt::join(y.shape, ", "), x.shape[0],
                                    x_file.string()));
    return Dataset<T>(x.shape[0], x.shape[1], std::move(x.data), std::move(y.data));
  };
  // Bytes stay bytes and are read as pixels, u8 / 255.
  if (npy_type(x_file) == "|u1") return pack(read_npy<std::uint8_t>(x_file));
  return pack(read_npy<T>(x_file));
}

template <class T>
TrainTest<T> load_npy(const fs::path& folder, bool regression) {
  std::error_code ignored;
  const fs::path test =
      fs::exists(folder / "X_test.npy", ignored) ? folder / "X_test.npy" : fs::path();
  return read_files<T>(folder / "X.npy", test, regression, [&](const fs::path& x_file) {
    return read_npy_pair<T>(x_file,
                            folder / (x_file.filename() == "X.npy" ? "y.npy" : "y_test.npy"));
  });
}

template <class T>
TrainTest<T> dispatch(const Form& form, const DataOptions& o) {
  const fs::path place = o.base / form.place;  // an absolute place replaces the base
  const fs::path test = o.test.empty() ? fs::path() : o.base / o.test;
  if (form.kind == "mnist") return read_idx_folder<T>(fetch_mnist(o.offline, o.say));
  if (form.kind == "idx") return read_idx_folder<T>(place);
  if (form.kind == "libsvm") return load_libsvm<T>(place, test, o.regression);
  if (form.kind == "csv")
    return read_files<T>(place, test, o.regression,
                         [](const fs::path& f) { return read_csv<T>(f); });
  if (form.kind == "npy") return load_npy<T>(place, o.regression);
  if (form.kind == "digits") return digits<T>(o.samples, o.seed);
  return o.regression ? synthetic_regression<T>(o.samples, o.features, o.seed)
                      : synthetic_classes<T>(o.samples, o.features, o.classes, o.seed);
}

}  // namespace

std::span<const DataInfo> data_table() {
  return table;
}

template <class T>
TrainTest<T> load(const DataOptions& options) {
  const Form form = parse_form(options.data);
  if (!options.test.empty() && form.kind != "libsvm" && form.kind != "csv")
    throw ConfigError(fmt::format(
        "problem.test = \"{}\": allowed with libsvm:FILE and csv:FILE, problem.data is \"{}\"",
        options.test, options.data));
  TrainTest<T> data = dispatch<T>(form, options);
  data.name = options.data;
  if (options.regression) data.classes = 0;
  if (options.max_samples > 0 && options.max_samples < data.train.samples()) {
    std::vector<std::uint32_t> first(options.max_samples);
    std::iota(first.begin(), first.end(), 0u);
    data.train = data.train.select(first);
  }
  if (options.normalize) normalize(data);
  return data;
}

template <class T>
StackedRegression<T> load_stacked(const fs::path& folder) {
  auto a = read_npy<T>(folder / "A.npy");
  auto b = read_npy<T>(folder / "b.npy");
  if (a.shape.size() != 3 || a.data.empty())
    throw FormatError(fmt::format("{}: shape ({}), expected agents x samples x features",
                                  (folder / "A.npy").string(), fmt::join(a.shape, ", ")));
  if (b.shape.size() != 2 || b.shape[0] != a.shape[0] || b.shape[1] != a.shape[1])
    throw FormatError(fmt::format("{}: shape ({}), expected ({}, {}) as A.npy has it",
                                  (folder / "b.npy").string(), fmt::join(b.shape, ", "), a.shape[0],
                                  a.shape[1]));
  return {a.shape[0], a.shape[1], a.shape[2], std::move(a.data), std::move(b.data)};
}

template TrainTest<float> load(const DataOptions&);
template TrainTest<double> load(const DataOptions&);
template StackedRegression<float> load_stacked(const fs::path&);
template StackedRegression<double> load_stacked(const fs::path&);

}  // namespace ticopd
