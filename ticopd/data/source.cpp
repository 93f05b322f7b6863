#include "ticopd/data/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ticopd/data/class_labels.hpp"
#include "ticopd/data/csv.hpp"
#include "ticopd/data/fetch.hpp"
#include "ticopd/data/idx.hpp"
#include "ticopd/data/libsvm.hpp"
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

// A training file and, unless `test` is empty, a test file of the same width.
template <class T, class Read>
SampleSource<T> file_source(const fs::path& file, const fs::path& test, bool regression,
                            Read reading) {
  SampleSource<T> source{reading(file), {}, {}};
  if (!test.empty()) source.test = reading(test);
  source.reconcile = [=](Contents& train, Contents& tested) {
    if (!test.empty() && tested.features != train.features)
      throw FormatError(fmt::format("{}: {} features, the training file {} has {}", test.string(),
                                    tested.features, file.string(), train.features));
    return regression ? 0 : number_classes(train.labels, file, tested.labels, test);
  };
  return source;
}

template <class T>
SampleSource<T> csv_source(const fs::path& file, const fs::path& test, bool regression) {
  return file_source<T>(file, test, regression, [](const fs::path& f) -> Reading<T> {
    return [f](const Wanted& wanted, const Take<T>& take) { return scan_csv(f, 0, wanted, take); };
  });
}

template <class T>
SampleSource<T> libsvm_source(const fs::path& file, fs::path test, bool regression) {
  const fs::path beside = file.string() + ".t";
  if (std::error_code ignored; test.empty() && fs::exists(beside, ignored)) test = beside;
  const auto reading = [](const fs::path& f, std::size_t features) -> Reading<T> {
    return [=](const Wanted& wanted, const Take<T>& take) {
      return scan_libsvm(f, features, wanted, take);
    };
  };
  SampleSource<T> source{reading(file, 0), {}, {}};
  if (!test.empty()) source.test = reading(test, 1);  // it may be all zeros, its training file not
  source.reconcile = [=](Contents& train, Contents& tested) {
    // The most that either file has, since zeros at the end leave no trace in one.
    const std::size_t features = std::max(train.features, tested.features);
    train.features = features;
    if (!test.empty()) tested.features = features;
    return regression ? 0 : number_classes(train.labels, file, tested.labels, test);
  };
  return source;
}

// The rows of a matrix, or what else lies behind one another in an array.
template <class V, class T>
void scan_rows(NpyStream& x, std::size_t rows, const Wanted& wanted, const Take<T>& take) {
  std::vector<V> row;
  const std::size_t width = x.items() / rows;
  for (std::size_t s = 0; s < rows; ++s) {
    x.read(row, width);
    if (wanted(s)) take(std::span<const V>(row));
  }
  x.finish();
}

template <class T>
Contents scan_npy_pair(const fs::path& x_file, const fs::path& y_file, const Wanted& wanted,
                       const Take<T>& take) {
  auto y = read_npy<double>(y_file);
  NpyStream x(x_file);
  if (x.shape().size() != 2 || x.items() == 0)
    throw FormatError(fmt::format("{}: shape ({}), expected samples x features", x_file.string(),
                                  fmt::join(x.shape(), ", ")));
  if (y.shape.size() != 1 || y.shape[0] != x.shape()[0])
    throw FormatError(fmt::format("{}: shape ({}), expected ({}), one for each row of {}",
                                  y_file.string(), fmt::join(y.shape, ", "), x.shape()[0],
                                  x_file.string()));
  Contents found{std::move(y.data), x.shape()[1]};
  if (wanted.nothing()) return found;
  // Bytes stay bytes and are read as pixels, u8 / 255.
  if (x.descr() == "|u1")
    scan_rows<std::uint8_t>(x, x.shape()[0], wanted, take);
  else
    scan_rows<T>(x, x.shape()[0], wanted, take);
  return found;
}

template <class T>
SampleSource<T> npy_source(const fs::path& folder, bool regression) {
  std::error_code ignored;
  const fs::path test =
      fs::exists(folder / "X_test.npy", ignored) ? folder / "X_test.npy" : fs::path();
  return file_source<T>(
      folder / "X.npy", test, regression, [&](const fs::path& x_file) -> Reading<T> {
        const fs::path y_file = folder / (x_file.filename() == "X.npy" ? "y.npy" : "y_test.npy");
        return [=](const Wanted& wanted, const Take<T>& take) {
          return scan_npy_pair(x_file, y_file, wanted, take);
        };
      });
}

template <class T>
SampleSource<T> open(const Form& form, const DataOptions& o) {
  const fs::path place = o.base / form.place;  // an absolute place replaces the base
  const fs::path test = o.test.empty() ? fs::path() : o.base / o.test;
  if (form.kind == "mnist") return idx_source<T>(fetch_mnist(o.offline, o.say));
  if (form.kind == "idx") return idx_source<T>(place);
  if (form.kind == "libsvm") return libsvm_source<T>(place, test, o.regression);
  if (form.kind == "csv") return csv_source<T>(place, test, o.regression);
  if (form.kind == "npy") return npy_source<T>(place, o.regression);
  if (form.kind == "digits") return digits_source<T>(o.samples, o.seed);
  return o.regression ? synthetic_regression_source<T>(o.samples, o.features, o.seed)
                      : synthetic_classes_source<T>(o.samples, o.features, o.classes, o.seed);
}

}  // namespace

std::span<const DataInfo> data_table() {
  return table;
}

template <class T>
TrainTest<T> load(const DataOptions& options, const Choose& choose) {
  const Form form = parse_form(options.data);
  if (!options.test.empty() && form.kind != "libsvm" && form.kind != "csv")
    throw ConfigError(fmt::format(
        "problem.test = \"{}\": allowed with libsvm:FILE and csv:FILE, problem.data is \"{}\"",
        options.test, options.data));
  SampleSource<T> source = open<T>(form, options);
  if (options.regression)
    source.reconcile = [reconcile = source.reconcile](Contents& train, Contents& test) {
      reconcile(train, test);
      return 0;
    };
  TrainTest<T> data = gather(source, {options.max_samples, options.normalize, choose});
  data.name = options.data;
  return data;
}

template <class T>
StackedRegression<T> load_stacked(
    const fs::path& folder, const std::function<AgentRange(std::size_t, std::size_t)>& choose) {
  NpyStream a(folder / "A.npy");
  NpyStream b(folder / "b.npy");
  const auto& shape = a.shape();
  if (shape.size() != 3 || a.items() == 0)
    throw FormatError(fmt::format("{}: shape ({}), expected agents x samples x features",
                                  (folder / "A.npy").string(), fmt::join(shape, ", ")));
  if (b.shape().size() != 2 || b.shape()[0] != shape[0] || b.shape()[1] != shape[1])
    throw FormatError(fmt::format("{}: shape ({}), expected ({}, {}) as A.npy has it",
                                  (folder / "b.npy").string(), fmt::join(b.shape(), ", "), shape[0],
                                  shape[1]));
  StackedRegression<T> stack{shape[0], shape[1], shape[2], {0, shape[0]}, {}, {}};
  if (choose) stack.held = choose(stack.agents, stack.samples);
  const auto read_into = [&](NpyStream& array, std::vector<T>& out) {
    std::vector<T> row;  // of one sample
    const std::size_t rows = stack.agents * stack.samples, width = array.items() / rows;
    for (std::size_t s = 0; s < rows; ++s) {
      array.read(row, width);
      const std::size_t agent = s / stack.samples;
      if (agent >= stack.held.first && agent < stack.held.first + stack.held.count)
        out.insert(out.end(), row.begin(), row.end());
    }
    array.finish();
  };
  read_into(a, stack.a);
  read_into(b, stack.b);
  return stack;
}

template TrainTest<float> load(const DataOptions&, const Choose&);
template TrainTest<double> load(const DataOptions&, const Choose&);
template StackedRegression<float> load_stacked(
    const fs::path&, const std::function<AgentRange(std::size_t, std::size_t)>&);
template StackedRegression<double> load_stacked(
    const fs::path&, const std::function<AgentRange(std::size_t, std::size_t)>&);

}  // namespace ticopd
