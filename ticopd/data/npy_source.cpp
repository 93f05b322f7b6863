#include "ticopd/data/npy_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ticopd/data/file_source.hpp"
#include "ticopd/data/npy.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

template <class T>
SampleSource<T> open_npy(const fs::path& folder, const DataOptions& options) {
  std::error_code ignored;
  const fs::path test =
      fs::exists(folder / "X_test.npy", ignored) ? folder / "X_test.npy" : fs::path();
  return file_source<T>(
      folder / "X.npy", test, options.regression, [&](const fs::path& x_file) -> Reading<T> {
        const fs::path y_file = folder / (x_file.filename() == "X.npy" ? "y.npy" : "y_test.npy");
        return [=](const Wanted& wanted, const Take<T>& take) {
          return scan_npy_pair(x_file, y_file, wanted, take);
        };
      });
}

fs::path stacked_folder(const DataOptions& options) {
  const auto [format, folder] = data_place(options);
  const bool there = format->name == "npy" && fs::exists(folder / "A.npy");
  return there ? folder : fs::path();
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

template SampleSource<float> open_npy(const fs::path&, const DataOptions&);
template SampleSource<double> open_npy(const fs::path&, const DataOptions&);
template StackedRegression<float> load_stacked(
    const fs::path&, const std::function<AgentRange(std::size_t, std::size_t)>&);
template StackedRegression<double> load_stacked(
    const fs::path&, const std::function<AgentRange(std::size_t, std::size_t)>&);

}  // namespace ticopd
