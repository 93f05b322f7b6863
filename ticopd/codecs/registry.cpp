#include <array>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/identity.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/rand_k.hpp"
#include "ticopd/codecs/sign.hpp"
#include "ticopd/codecs/top_k.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class T>
using Make = std::unique_ptr<Codec<T>> (*)(const CodecOptions&);

template <class T, template <class> class Kind>
std::unique_ptr<Codec<T>> make(const CodecOptions& options) {
  return std::make_unique<Kind<T>>(options);
}

struct Entry {
  CodecInfo info;
  Make<float> make_float;
  Make<double> make_double;
};

template <template <class> class Kind>
constexpr Entry entry(std::string_view kind, std::string_view options, std::string_view summary) {
  return {{kind, options, summary}, make<float, Kind>, make<double, Kind>};
}

template <class T>
using BestQsgd = Qsgd<T>;
template <class T>
using BestSign = Sign<T>;

// A new codec is a header and a line here. An explicit table, because a linker drops from a static
// library the object files that nothing but their own static initializers refers to.
constexpr std::array table{
    entry<Identity>("identity", "", "the row itself, in the run's precision"),
    entry<BestQsgd>("qsgd", "bits = 8, scaled = true, bucket = 0",
                    "random rounding to 2^bits levels of the norm, and a sign"),
    entry<TopK>("top_k", "k or fraction", "the k largest magnitudes and their indices"),
    entry<RandK>("rand_k", "k or fraction, unbiased = false",
                 "k coordinates that both ends draw from the seed: values only"),
    entry<BestSign>("sign", "", "one bit per coordinate and the mean magnitude"),
};

constexpr auto infos = [] {
  std::array<CodecInfo, table.size()> all{};
  for (std::size_t i = 0; i < table.size(); ++i) all[i] = table[i].info;
  return all;
}();

constexpr auto kinds = [] {
  std::array<std::string_view, table.size()> all{};
  for (std::size_t i = 0; i < table.size(); ++i) all[i] = table[i].info.kind;
  return all;
}();

}  // namespace

std::span<const CodecInfo> codec_table() {
  return infos;
}

template <class T>
std::unique_ptr<Codec<T>> make_codec(const CodecOptions& options) {
  for (const Entry& e : table) {
    if (e.info.kind != options.kind) continue;
    if constexpr (sizeof(T) == 4)
      return e.make_float(options);
    else
      return e.make_double(options);
  }
  throw ConfigError(not_allowed("codec.kind", options.kind, kinds));
}

template std::unique_ptr<Codec<float>> make_codec<float>(const CodecOptions&);
template std::unique_ptr<Codec<double>> make_codec<double>(const CodecOptions&);

}  // namespace ticopd
