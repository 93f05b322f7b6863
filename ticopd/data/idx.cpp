#include "ticopd/data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ticopd/data/file.hpp"
#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;

std::uint8_t byte_at(const std::string& bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

std::optional<fs::path> find(const fs::path& folder, std::string_view stem, int dimensions) {
  for (const char separator : {'-', '.'})
    for (const std::string_view end : {"", ".gz"}) {
      fs::path file = folder / fmt::format("{}{}idx{}-ubyte{}", stem, separator, dimensions, end);
      std::error_code ignored;
      if (fs::exists(file, ignored)) return file;
    }
  return std::nullopt;
}

fs::path require(const fs::path& folder, std::string_view stem, int dimensions) {
  if (const auto file = find(folder, stem, dimensions)) return *file;
  throw FormatError(fmt::format("{}: expected a file {}-idx{}-ubyte in this folder, plain or .gz",
                                folder.string(), stem, dimensions));
}

template <class T>
Dataset<T> read_pair(const fs::path& images, const fs::path& labels) {
  Idx x = read_idx(images);
  const Idx y = read_idx(labels);
  if (x.shape.size() < 2)
    throw FormatError(fmt::format("{}: expected images (2 dimensions or more), found {}",
                                  images.string(), x.shape.size()));
  if (y.shape.size() != 1)
    throw FormatError(fmt::format("{}: expected labels (1 dimension), found {}", labels.string(),
                                  y.shape.size()));
  const std::size_t samples = x.shape[0];
  if (y.shape[0] != samples)
    throw FormatError(fmt::format("{}: holds {} labels, expected {}, one for each image of {}",
                                  labels.string(), y.shape[0], samples, images.string()));
  if (x.data.empty()) throw FormatError(fmt::format("{}: holds no pixels", images.string()));
  const std::size_t features = x.data.size() / samples;
  return Dataset<T>(samples, features, std::move(x.data),
                    std::vector<double>(y.data.begin(), y.data.end()));
}

template <class T>
int classes_of(const Dataset<T>& data) {
  const auto& y = data.labels();
  return y.empty() ? 0 : static_cast<int>(*std::max_element(y.begin(), y.end())) + 1;
}

}  // namespace

Idx read_idx(const fs::path& file) {
  const std::string bytes = read_file(file);
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    throw FormatError(
        fmt::format("{}: not an IDX file, expected two zero bytes at offset 0", file.string()));
  if (bytes[2] != 8)
    throw FormatError(
        fmt::format("{}: IDX type {:#04x} at offset 2, expected 0x08 (unsigned bytes)",
                    file.string(), byte_at(bytes, 2)));
  const std::size_t dimensions = byte_at(bytes, 3);
  const std::size_t header = 4 + 4 * dimensions;
  if (dimensions == 0 || bytes.size() < header)
    throw FormatError(fmt::format("{}: {} bytes cannot hold the sizes of {} dimensions",
                                  file.string(), bytes.size(), dimensions));
  Idx idx;
  for (std::size_t k = 0; k < dimensions; ++k) {
    std::size_t extent = 0;
    for (std::size_t b = 0; b < 4; ++b) extent = extent << 8 | byte_at(bytes, 4 + 4 * k + b);
    idx.shape.push_back(extent);
  }
  if (const auto claimed = items(idx.shape); claimed != bytes.size() - header)
    throw FormatError(fmt::format("{}: the header promises {} bytes ({}), {} follow it",
                                  file.string(), claimed ? std::to_string(*claimed) : "too many",
                                  fmt::join(idx.shape, " x "), bytes.size() - header));
  idx.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end());
  return idx;
}

template <class T>
TrainTest<T> read_idx_folder(const fs::path& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    throw FormatError(fmt::format("{}: expected a folder of IDX files", folder.string()));
  TrainTest<T> data;
  data.name = "idx:" + folder.string();
  const fs::path train_images = require(folder, "train-images", 3);
  data.train = read_pair<T>(train_images, require(folder, "train-labels", 1));
  if (find(folder, "t10k-images", 3) || find(folder, "t10k-labels", 1)) {
    const fs::path images = require(folder, "t10k-images", 3);
    data.test = read_pair<T>(images, require(folder, "t10k-labels", 1));
    if (data.test.features() != data.train.features())
      throw FormatError(fmt::format("{}: images of {} pixels, those for training have {}",
                                    images.string(), data.test.features(), data.train.features()));
  }
  data.classes = std::max(classes_of(data.train), classes_of(data.test));
  return data;
}

template TrainTest<float> read_idx_folder(const fs::path&);
template TrainTest<double> read_idx_folder(const fs::path&);

}  // namespace ticopd
