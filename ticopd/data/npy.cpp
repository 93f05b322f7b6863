#include "ticopd/data/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "ticopd/data/file.hpp"
#include "ticopd/data/number.hpp"
#include "ticopd/data/shape.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little,
              "values are copied as they are in the file");

constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  std::vector<std::size_t> shape;
  std::size_t end = 0;  // where the values start
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

// What follows `'key':` in the header's dictionary.
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

Header parse_header(std::string_view bytes, const fs::path& file) {
  if (!bytes.starts_with(magic)) refuse(file, "not an NPY file, expected \\x93NUMPY at offset 0");
  if (bytes.size() < 12) refuse(file, "the NPY header is cut off");
  const int version = bytes[6];
  if (version < 1 || version > 3)
    refuse(file, fmt::format("NPY version {}, allowed are 1 to 3", version));
  const std::size_t width = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t b = width; b-- > 0;)
    length = length << 8 | static_cast<std::uint8_t>(bytes[8 + b]);
  const std::size_t start = 8 + width;
  if (length > bytes.size() - start) refuse(file, "the NPY header is cut off");
  const std::string_view dictionary = bytes.substr(start, length);
  const std::string_view descr = value_of(dictionary, "descr", file);
  if (!descr.starts_with('\''))
    refuse(file, "NPY records are not allowed, expected one plain type");
  if (!value_of(dictionary, "fortran_order", file).starts_with("False"))
    refuse(file, "NPY in Fortran order, expected C order (numpy.ascontiguousarray)");
  return {std::string(descr.substr(1, descr.find('\'', 1) - 1)),
          parse_shape(value_of(dictionary, "shape", file), file), start + length};
}

template <class From, class V>
void convert(std::string_view bytes, std::vector<V>& out, const fs::path& file) {
  out.resize(bytes.size() / sizeof(From));
  for (std::size_t k = 0; k < out.size(); ++k) {
    From value;
    std::memcpy(&value, bytes.data() + k * sizeof(From), sizeof(From));
    out[k] = static_cast<V>(value);
    if constexpr (!std::is_integral_v<V>)
      if (!std::isfinite(out[k])) refuse(file, fmt::format("item {} is not a finite number", k));
  }
}

template <class V>
constexpr std::string_view descr_of = std::is_same_v<V, float>    ? "<f4"
                                      : std::is_same_v<V, double> ? "<f8"
                                                                  : "|u1";

}  // namespace

template <class V>
NpyArray<V> read_npy(const fs::path& file) {
  const std::string bytes = read_file(file);
  Header header = parse_header(bytes, file);
  const std::size_t size = item_size(header.descr, file);
  const auto count = items(header.shape);
  const std::string_view values = std::string_view(bytes).substr(header.end);
  if (!count || *count > std::numeric_limits<std::size_t>::max() / size ||
      *count * size != values.size())
    refuse(file, fmt::format("the header promises {} values of {} bytes, {} bytes follow it",
                             fmt::join(header.shape, " x "), size, values.size()));
  NpyArray<V> array{std::move(header.shape), {}, header.descr};
  if (size == 1)
    convert<std::uint8_t>(values, array.data, file);
  else if (std::is_same_v<V, std::uint8_t>)
    refuse(file, fmt::format("NPY type '{}', expected |u1", header.descr));
  else if (header.descr == "<f4")
    convert<float>(values, array.data, file);
  else if (header.descr == "<f8")
    convert<double>(values, array.data, file);
  else if (header.descr == "<i4")
    convert<std::int32_t>(values, array.data, file);
  else
    convert<std::int64_t>(values, array.data, file);
  return array;
}

std::string npy_type(const fs::path& file) {
  return parse_header(read_file(file), file).descr;
}

template <class V>
void write_npy(const fs::path& file, std::span<const std::size_t> shape, std::span<const V> data) {
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
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(magic.data(), static_cast<std::streamsize>(magic.size()));
  out.write(lead.data(), lead.size());
  out.write(dictionary.data(), static_cast<std::streamsize>(dictionary.size()));
  out.write(reinterpret_cast<const char*>(data.data()),
            static_cast<std::streamsize>(data.size_bytes()));
  out.flush();
  if (!out)
    throw DiskError(fmt::format("{}: cannot write: {}", file.string(), std::strerror(errno)));
}

template NpyArray<float> read_npy(const fs::path&);
template NpyArray<double> read_npy(const fs::path&);
template NpyArray<std::uint8_t> read_npy(const fs::path&);
template void write_npy(const fs::path&, std::span<const std::size_t>, std::span<const float>);
template void write_npy(const fs::path&, std::span<const std::size_t>, std::span<const double>);
template void write_npy(const fs::path&, std::span<const std::size_t>,
                        std::span<const std::uint8_t>);

}  // namespace ticopd
