#include "ticopd/data/libsvm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ticopd/data/class_labels.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/stream.hpp"

namespace ticopd {
namespace {

// More than any published set has: a typing error must not lead to a model of 2^32 numbers.
constexpr std::uint32_t max_index = 200'000'000;

std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

template <class T>
struct Entries {
  std::vector<std::uint32_t> index;
  std::vector<T> value;
};

// Reads one line's entries; returns its label.
template <class T>
double parse_line(std::string_view line, Entries<T>& x, const std::string& where) {
  x.index.clear();
  x.value.clear();
  const std::string_view first = take_word(line);
  const auto label = parse_number<double>(first);
  if (!label || !std::isfinite(*label))
    throw FormatError(fmt::format("{}: expected a label, found `{}`", where, first));
  std::uint32_t last = 0;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const auto colon = word.find(':');
    const auto index = parse_number<std::uint32_t>(word.substr(0, colon));
    const auto value = colon == std::string_view::npos
                           ? std::nullopt
                           : parse_number<double>(word.substr(colon + 1));
    if (!index || !value)
      throw FormatError(fmt::format("{}: expected index:value, found `{}`", where, word));
    if (*index == 0)
      throw FormatError(
          fmt::format("{}: index 0 in `{}`: LIBSVM counts features from 1; export the file so "
                      "(scikit-learn: dump_svmlight_file(..., zero_based=False))",
                      where, word));
    if (*index > max_index)
      throw FormatError(fmt::format("{}: index {} in `{}`, allowed are 1 ... {}", where, *index,
                                    word, max_index));
    if (*index <= last)
      throw FormatError(
          fmt::format("{}: index {} after {}, expected ascending indices", where, *index, last));
    if (!std::isfinite(static_cast<T>(*value)))
      throw FormatError(fmt::format("{}: `{}` is not a finite number", where, word));
    last = *index;
    x.index.push_back(*index - 1);
    x.value.push_back(static_cast<T>(*value));
  }
  return *label;
}

}  // namespace

template <class T>
Contents scan_libsvm(const std::filesystem::path& file, std::size_t features, const Wanted& wanted,
                     const Take<T>& take) {
  LineStream lines(file);
  Entries<T> x;
  std::vector<double> labels;
  std::string_view line;
  for (std::size_t number = 1; lines.next(line); ++number) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    labels.push_back(parse_line(line, x, fmt::format("{}:{}", file.string(), number)));
    if (!x.index.empty())
      features = std::max<std::size_t>(features, x.index.back() + std::size_t{1});
    if (wanted(labels.size() - 1)) take(SparseSample<T>{x.index, x.value});
  }
  if (labels.empty()) throw FormatError(fmt::format("{}: holds no samples", file.string()));
  if (features == 0) throw FormatError(fmt::format("{}: holds no features", file.string()));
  return {std::move(labels), features};
}

template <class T>
Dataset<T> read_libsvm(const std::filesystem::path& file, std::size_t features) {
  return whole<T>([&](const Wanted& wanted, const Take<T>& take) {
    return scan_libsvm(file, features, wanted, take);
  });
}

template <class T>
SampleSource<T> open_libsvm(const std::filesystem::path& file, const DataOptions& options) {
  std::filesystem::path test = options.test_file();
  const std::filesystem::path beside = file.string() + ".t";
  if (std::error_code ignored; test.empty() && std::filesystem::exists(beside, ignored))
    test = beside;
  const auto reading = [](const std::filesystem::path& f, std::size_t features) -> Reading<T> {
    return [=](const Wanted& wanted, const Take<T>& take) {
      return scan_libsvm(f, features, wanted, take);
    };
  };
  SampleSource<T> source{reading(file, 0), {}, {}};
  if (!test.empty()) source.test = reading(test, 1);  // it may be all zeros, its training file not
  source.reconcile = [=, regression = options.regression](Contents& train, Contents& tested) {
    // The most that either file has, since zeros at the end leave no trace in one.
    const std::size_t features = std::max(train.features, tested.features);
    train.features = features;
    if (!test.empty()) tested.features = features;
    return regression ? 0 : number_classes(train.labels, file, tested.labels, test);
  };
  return source;
}

template SampleSource<float> open_libsvm(const std::filesystem::path&, const DataOptions&);
template SampleSource<double> open_libsvm(const std::filesystem::path&, const DataOptions&);
template Contents scan_libsvm(const std::filesystem::path&, std::size_t, const Wanted&,
                              const Take<float>&);
template Contents scan_libsvm(const std::filesystem::path&, std::size_t, const Wanted&,
                              const Take<double>&);
template Dataset<float> read_libsvm(const std::filesystem::path&, std::size_t);
template Dataset<double> read_libsvm(const std::filesystem::path&, std::size_t);

}  // namespace ticopd
