#include "ticopd/data/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"
#include "ticopd/numeric/parse_number.hpp"
#include "ticopd/system/file.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little,
              "values are copied as they are in the file");

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  std::vector<std::size_t> shape;
};

[[noreturn]] void refuse(const fs::path& file, const std::string& why) {
  throw FormatError(fmt::format("{}: {}", file.string(), why));
}

std::size_t item_size(std::string_view descr, const fs::path& file) {
  if (descr == "|u1" || descr == "<u1") return 1;
  if (descr == "<f4" || descr == "<i4") return 4;
  if (descr == "<f8" || descr == "<i8") return 8;
  refuse(file, fmt::format("NPY type '{}', allowed are <f4, <f8, <i4, <i8, |u1", descr));
}

// The value after `'key':` in the header's dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key, const fs::path& file) {
  const auto at = dictionary.find(fmt::format("'{}'", key));
  const auto colon = at == std::string_view::npos ? at : dictionary.find(':', at);
  if (colon == std::string_view::npos) refuse(file, fmt::format("NPY header without '{}'", key));
  return trimmed(dictionary.substr(colon + 1));
}

std::vector<std::size_t> parse_shape(std::string_view text, const fs::path& file) {
  const auto close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos)
    refuse(file, "NPY shape is no tuple");
  std::string_view rest = text.substr(1, close - 1);
  std::vector<std::size_t> shape;
  while (!trimmed(rest).empty()) {
    const auto comma = rest.find(',');
    const std::string_view word = trimmed(rest.substr(0, comma));
    const auto extent = parse_number<std::size_t>(word);
    if (!extent) refuse(file, fmt::format("NPY shape holds `{}`, expected a count", word));
    shape.push_back(*extent);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
  }
  return shape;
}

Header read_header(FileStream& stream, const fs::path& file) {
  std::string bytes;
  stream.read(bytes, 12);
  if (!bytes.starts_with(magic)) refuse(file, "not an NPY file, expected \\x93NUMPY at offset 0");
  if (bytes.size() < 12) refuse(file, "the NPY header is cut off");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    refuse(file, fmt::format("NPY version {}, allowed are 1 to 3", version));
  const std::size_t width = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t b = width; b-- > 0;)
    length = length << 8 | static_cast<std::uint8_t>(bytes[8 + b]);
  const std::size_t end = 8 + width + length;
  if (bytes.size() < end) stream.read(bytes, end - bytes.size());
  if (bytes.size() < end) refuse(file, "the NPY header is cut off");
  const std::string_view dictionary = std::string_view(bytes).substr(8 + width, length);
  const std::string_view descr = value_of(dictionary, "descr", file);
  if (!descr.starts_with('\''))
    refuse(file, "NPY records are not allowed, expected one plain type");
  if (!value_of(dictionary, "fortran_order", file).starts_with("False"))
    refuse(file, "NPY in Fortran order, expected C order (numpy.ascontiguousarray)");
  return {std::string(descr.substr(1, descr.find('\'', 1) - 1)),
          parse_shape(value_of(dictionary, "shape", file), file)};
}

// `first` is the place of the first value in the whole array.
template <class From, class V>
void convert(std::string_view bytes, std::vector<V>& out, std::size_t first, const fs::path& file) {
  out.resize(bytes.size() / sizeof(From));
  for (std::size_t k = 0; k < out.size(); ++k) {
    From value;
    std::memcpy(&value, bytes.data() + k * sizeof(From), sizeof(From));
    out[k] = static_cast<V>(value);
    if constexpr (!std::is_integral_v<V>)
      if (!std::isfinite(out[k]))
        refuse(file, fmt::format("item {} is not a finite number", first + k));
  }
}

template <class V>
constexpr std::string_view descr_of = std::is_same_v<V, float>    ? "<f4"
                                      : std::is_same_v<V, double> ? "<f8"
                                                                  : "|u1";

}  // namespace

NpyStream::NpyStream(const fs::path& file) : file_(file), bytes_(file) {
  Header header = read_header(bytes_, file);
  descr_ = std::move(header.descr);
  shape_ = std::move(header.shape);
  item_bytes_ = item_size(descr_, file);
  const auto count = ticopd::items(shape_);
  if (!count || *count > std::numeric_limits<std::size_t>::max() / item_bytes_)
    refuse_length(bytes_.drain());
  items_ = *count;
  // The length of an archive is known only at its end.
  if (const auto left = bytes_.left(); left && *left != items_ * item_bytes_) refuse_length(*left);
}

void NpyStream::refuse_length(std::size_t bytes) const {
  refuse(file_, fmt::format("the header promises {} values of {} bytes, {} bytes follow it",
                            fmt::join(shape_, " x "), item_bytes_, bytes));
}

template <class V>
void NpyStream::read(std::vector<V>& out, std::size_t count) {
  raw_.clear();
  if (bytes_.read(raw_, count * item_bytes_) < count * item_bytes_)
    refuse_length(taken_ * item_bytes_ + raw_.size());
  if (item_bytes_ == 1)
    convert<std::uint8_t>(raw_, out, taken_, file_);
  else if (std::is_same_v<V, std::uint8_t>)
    refuse(file_, fmt::format("NPY type '{}', expected |u1", descr_));
  else if (descr_ == "<f4")
    convert<float>(raw_, out, taken_, file_);
  else if (descr_ == "<f8")
    convert<double>(raw_, out, taken_, file_);
  else if (descr_ == "<i4")
    convert<std::int32_t>(raw_, out, taken_, file_);
  else
    convert<std::int64_t>(raw_, out, taken_, file_);
  taken_ += count;
}

void NpyStream::finish() {
  if (const std::size_t more = bytes_.drain(); taken_ != items_ || more > 0)
    refuse_length(taken_ * item_bytes_ + more);
}

template <class V>
NpyArray<V> read_npy(const fs::path& file) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  NpyStream stream(file);
  NpyArray<V> array{stream.shape(), {}, stream.descr()};
  std::vector<V> values;
  for (std::size_t left = stream.items(); left > 0; left -= values.size()) {
    stream.read(values, std::min(left, piece));
    array.data.insert(array.data.end(), values.begin(), values.end());
  }
  stream.finish();
  return array;
}

template <class V>
std::string npy_head(std::span<const std::size_t> shape) {
  std::string tuple;
  for (const std::size_t extent : shape) tuple += fmt::format("{}, ", extent);
  if (shape.size() > 1) tuple.resize(tuple.size() - 2);
  if (shape.size() == 1) tuple.resize(tuple.size() - 1);  // (3,): the comma makes it a tuple
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of<V>, tuple);
  // NumPy asks for values that start at a multiple of 64.
  dictionary.resize((10 + dictionary.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  dictionary += '\n';
  const std::array<char, 4> lead{1, 0, static_cast<char>(dictionary.size() & 0xff),
                                 static_cast<char>(dictionary.size() >> 8)};
  return std::string(magic) + std::string(lead.data(), lead.size()) + dictionary;
}

template <class V>
void write_npy(const fs::path& file, std::span<const std::size_t> shape, std::span<const V> data) {
  std::string bytes = npy_head<V>(shape);
  bytes.append(reinterpret_cast<const char*>(data.data()), data.size_bytes());
  write_atomically(file, bytes);
}

template void NpyStream::read(std::vector<float>&, std::size_t);
template void NpyStream::read(std::vector<double>&, std::size_t);
template void NpyStream::read(std::vector<std::uint8_t>&, std::size_t);
template NpyArray<float> read_npy(const fs::path&);
template NpyArray<double> read_npy(const fs::path&);
template NpyArray<std::uint8_t> read_npy(const fs::path&);
template std::string npy_head<float>(std::span<const std::size_t>);
template std::string npy_head<double>(std::span<const std::size_t>);
template void write_npy(const fs::path&, std::span<const std::size_t>, std::span<const float>);
template void write_npy(const fs::path&, std::span<const std::size_t>, std::span<const double>);
template void write_npy(const fs::path&, std::span<const std::size_t>,
                        std::span<const std::uint8_t>);

}  // namespace ticopd
