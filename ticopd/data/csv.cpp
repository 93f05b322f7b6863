#include "ticopd/data/csv.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ticopd/data/file_source.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/stream.hpp"

namespace ticopd {
namespace {

void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    line.remove_prefix(comma + 1);
  }
}

bool is_header(const std::vector<std::string_view>& fields) {
  for (const std::string_view field : fields)
    if (parse_number<double>(field)) return false;  // a sample, perhaps a damaged one
  return true;
}

std::size_t place(int label_column, std::size_t columns, const std::string& where) {
  const long long at =
      label_column < 0 ? static_cast<long long>(columns) + label_column : label_column;
  if (at < 0 || at >= static_cast<long long>(columns) || columns < 2)
    throw FormatError(
        fmt::format("{}: {} columns, expected a label in column {} and features beside it", where,
                    columns, label_column));
  return static_cast<std::size_t>(at);
}

double number(std::string_view field, std::size_t column, const std::string& where) {
  const auto value = parse_number<double>(field);
  if (!value)
    throw FormatError(
        fmt::format("{}: column {}: expected a number, found `{}`", where, column + 1, field));
  if (!std::isfinite(*value))
    throw FormatError(
        fmt::format("{}: column {}: `{}` is not a finite number", where, column + 1, field));
  return *value;
}

}  // namespace

template <class T>
Contents scan_csv(const std::filesystem::path& file, int label_column, const Wanted& wanted,
                  const Take<T>& take) {
  LineStream lines(file);
  std::vector<T> x;
  std::vector<double> labels;
  std::vector<std::string_view> fields;
  std::size_t columns = 0;
  std::size_t label_at = 0;
  std::string_view line;
  for (std::size_t line_number = 1; lines.next(line); ++line_number) {
    line = trimmed(line);
    if (line.empty()) continue;
    const std::string where = fmt::format("{}:{}", file.string(), line_number);
    split(line, fields);
    if (columns == 0) {
      columns = fields.size();
      label_at = place(label_column, columns, where);
      if (is_header(fields)) continue;
    }
    if (fields.size() != columns)
      throw FormatError(
          fmt::format("{}: {} columns, the first line has {}", where, fields.size(), columns));
    x.clear();
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = number(fields[c], c, where);
      if (c == label_at)
        labels.push_back(value);
      else
        x.push_back(static_cast<T>(value));
      if (!std::isfinite(static_cast<T>(value)))
        throw FormatError(
            fmt::format("{}: column {}: {} is too large for float", where, c + 1, value));
    }
    if (wanted(labels.size() - 1)) take(std::span<const T>(x));
  }
  if (labels.empty()) throw FormatError(fmt::format("{}: holds no samples", file.string()));
  return {std::move(labels), columns - 1};
}

template <class T>
Dataset<T> read_csv(const std::filesystem::path& file, int label_column) {
  return whole<T>([&](const Wanted& wanted, const Take<T>& take) {
    return scan_csv(file, label_column, wanted, take);
  });
}

template <class T>
SampleSource<T> open_csv(const std::filesystem::path& file, const DataOptions& options) {
  return file_source<T>(file, options.test_file(), options.regression,
                        [](const std::filesystem::path& f) -> Reading<T> {
                          return [f](const Wanted& wanted, const Take<T>& take) {
                            return scan_csv(f, 0, wanted, take);
                          };
                        });
}

template SampleSource<float> open_csv(const std::filesystem::path&, const DataOptions&);
template SampleSource<double> open_csv(const std::filesystem::path&, const DataOptions&);
template Contents scan_csv(const std::filesystem::path&, int, const Wanted&, const Take<float>&);
template Contents scan_csv(const std::filesystem::path&, int, const Wanted&, const Take<double>&);
template Dataset<float> read_csv(const std::filesystem::path&, int);
template Dataset<double> read_csv(const std::filesystem::path&, int);

}  // namespace ticopd
