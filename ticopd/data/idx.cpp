#include "ticopd/data/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"
#include "ticopd/system/stream.hpp"

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

// The header, and then image by image.
class IdxStream {
 public:
  explicit IdxStream(const fs::path& file);

  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t claimed() const { return claimed_; }  // bytes after the header
  // The next `count` bytes, appended to `out`; FormatError if the file ends before.
  void read(std::string& out, std::size_t count) {
    const std::size_t got = bytes_.read(out, count);
    taken_ += got;
    if (got < count) refuse(std::to_string(claimed_), taken_);
  }
  // FormatError if more follows.
  void finish() {
    if (const std::size_t more = bytes_.drain(); taken_ + more != claimed_)
      refuse(std::to_string(claimed_), taken_ + more);
  }

 private:
  [[noreturn]] void refuse(const std::string& claimed, std::size_t follow) const {
    throw FormatError(fmt::format("{}: the header promises {} bytes ({}), {} follow it",
                                  file_.string(), claimed, fmt::join(shape_, " x "), follow));
  }

  fs::path file_;
  FileStream bytes_;
  std::vector<std::size_t> shape_;
  std::size_t claimed_ = 0;
  std::size_t taken_ = 0;
};

IdxStream::IdxStream(const fs::path& file) : file_(file), bytes_(file) {
  std::string head;
  bytes_.read(head, 4);
  if (head.size() < 4 || head[0] != 0 || head[1] != 0)
    throw FormatError(
        fmt::format("{}: not an IDX file, expected two zero bytes at offset 0", file.string()));
  if (head[2] != 8)
    throw FormatError(
        fmt::format("{}: IDX type {:#04x} at offset 2, expected 0x08 (unsigned bytes)",
                    file.string(), byte_at(head, 2)));
  const std::size_t dimensions = byte_at(head, 3);
  if (bytes_.read(head, 4 * dimensions) < 4 * dimensions || dimensions == 0)
    throw FormatError(fmt::format("{}: {} bytes cannot hold the sizes of {} dimensions",
                                  file.string(), head.size(), dimensions));
  for (std::size_t k = 0; k < dimensions; ++k) {
    std::size_t extent = 0;
    for (std::size_t b = 0; b < 4; ++b) extent = extent << 8 | byte_at(head, 4 + 4 * k + b);
    shape_.push_back(extent);
  }
  const auto claimed = items(shape_);
  if (!claimed) refuse("too many", bytes_.drain());
  claimed_ = *claimed;
  // The length of an archive is known only at its end.
  if (const auto left = bytes_.left(); left && *left != claimed_)
    refuse(std::to_string(claimed_), *left);
}

template <class T>
Contents scan_pair(const fs::path& images, const fs::path& labels, const Wanted& wanted,
                   const Take<T>& take) {
  IdxStream x(images);
  const Idx y = read_idx(labels);
  if (x.shape().size() < 2)
    throw FormatError(fmt::format("{}: expected images (2 dimensions or more), found {}",
                                  images.string(), x.shape().size()));
  if (y.shape.size() != 1)
    throw FormatError(fmt::format("{}: expected labels (1 dimension), found {}", labels.string(),
                                  y.shape.size()));
  const std::size_t samples = x.shape()[0];
  if (y.shape[0] != samples)
    throw FormatError(fmt::format("{}: holds {} labels, expected {}, one for each image of {}",
                                  labels.string(), y.shape[0], samples, images.string()));
  if (x.claimed() == 0) throw FormatError(fmt::format("{}: holds no pixels", images.string()));
  Contents found{std::vector<double>(y.data.begin(), y.data.end()), x.claimed() / samples};
  if (wanted.nothing()) return found;
  std::string image;
  for (std::size_t s = 0; s < samples; ++s) {
    image.clear();
    x.read(image, found.features);
    if (wanted(s))
      take(std::span(reinterpret_cast<const std::uint8_t*>(image.data()), image.size()));
  }
  x.finish();
  return found;
}

template <class T>
Reading<T> pair_reading(const fs::path& images, const fs::path& labels) {
  return [=](const Wanted& wanted, const Take<T>& take) {
    return scan_pair(images, labels, wanted, take);
  };
}

int classes_of(const std::vector<double>& labels) {
  return labels.empty() ? 0 : static_cast<int>(*std::max_element(labels.begin(), labels.end())) + 1;
}

}  // namespace

Idx read_idx(const fs::path& file) {
  IdxStream stream(file);
  std::string bytes;
  stream.read(bytes, stream.claimed());
  stream.finish();
  return {stream.shape(), std::vector<std::uint8_t>(bytes.begin(), bytes.end())};
}

template <class T>
SampleSource<T> idx_source(const fs::path& folder) {
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    throw FormatError(fmt::format("{}: expected a folder of IDX files", folder.string()));
  const fs::path train_images = require(folder, "train-images", 3);
  SampleSource<T> source{pair_reading<T>(train_images, require(folder, "train-labels", 1)), {}, {}};
  fs::path images;
  if (find(folder, "t10k-images", 3) || find(folder, "t10k-labels", 1)) {
    images = require(folder, "t10k-images", 3);
    source.test = pair_reading<T>(images, require(folder, "t10k-labels", 1));
  }
  source.reconcile = [images](Contents& train, Contents& test) {
    if (!images.empty() && test.features != train.features)
      throw FormatError(fmt::format("{}: images of {} pixels, those for training have {}",
                                    images.string(), test.features, train.features));
    return std::max(classes_of(train.labels), classes_of(test.labels));
  };
  return source;
}

template <class T>
TrainTest<T> read_idx_folder(const fs::path& folder) {
  TrainTest<T> data = gather(idx_source<T>(folder));
  data.name = "idx:" + folder.string();
  return data;
}

template SampleSource<float> idx_source(const fs::path&);
template SampleSource<double> idx_source(const fs::path&);
template TrainTest<float> read_idx_folder(const fs::path&);
template TrainTest<double> read_idx_folder(const fs::path&);

}  // namespace ticopd
