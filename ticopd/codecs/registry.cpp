#include <algorithm>
#include <array>
#include <type_traits>

#include "ticopd/codecs/adaptive.hpp"
#include "ticopd/codecs/codec.hpp"
#include "ticopd/codecs/grid.hpp"
#include "ticopd/codecs/identity.hpp"
#include "ticopd/codecs/infinity.hpp"
#include "ticopd/codecs/natural.hpp"
#include "ticopd/codecs/norm_sign.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/rand_k.hpp"
#include "ticopd/codecs/random_gossip.hpp"
#include "ticopd/codecs/sign.hpp"
#include "ticopd/codecs/threshold.hpp"
#include "ticopd/codecs/top_k.hpp"
#include "ticopd/error.hpp"

namespace ticopd {
namespace {

template <class T>
using Make = std::unique_ptr<Codec<T>> (*)(const CodecOptions&);

template <class T, template <class> class Kind>
std::unique_ptr<Codec<T>> make(const CodecOptions& options) {
  static_assert(std::is_constructible_v<Kind<T>, const CodecOptions&>,
                "a codec of the table has a constructor from const CodecOptions&");
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
template <class T>
using BestNormSign = NormSign<T>;
template <class T>
using BestInfinity = Infinity<T>;

// A new codec is a header and a line here. It is made of a config's CodecOptions, also where it
// uses none of them; of those that its line names, `then` and `coding` are read. An explicit table,
// because a linker drops from a static library the object files that nothing but their own static
// initializers refers to.
constexpr std::array table{
    entry<Identity>("identity", "", "the row itself, in the run's precision"),
    entry<BestQsgd>("qsgd", "bits = 8, scaled = true, bucket = 0, coding",
                    "random rounding to 2^bits levels of the norm, and a sign"),
    entry<TopK>("top_k", "k or fraction, then, coding",
                "the k largest magnitudes and their indices"),
    entry<RandK>("rand_k", "k or fraction, unbiased = false, then",
                 "k coordinates that both ends draw from the seed: values only"),
    entry<BestSign>("sign", "bucket = 0", "one bit per coordinate and the mean magnitude"),
    entry<Natural>("natural", "coding", "random rounding to powers of two: signs and exponents"),
    entry<BestNormSign>("norm_sign", "bucket = 0",
                        "one bit per coordinate and half the largest magnitude"),
    entry<RandomGossip>("random_gossip", "p = 0.5", "the row with probability p, else nothing"),
    entry<Adaptive>("adaptive", "omega = 0.25, step = 0.001, coding",
                    "random rounding to points apart by omega |x| + step, in ternary digits"),
    entry<Threshold>("threshold", "threshold = 0.1, then, coding",
                     "the magnitudes of at least threshold times the largest"),
    entry<Grid>("grid", "bits = 8, r0 = 1, kappa = 0.99, coding",
                "2^bits cells of a box that shrinks by kappa each round; for magnusson"),
    entry<BestInfinity>("infinity", "bits = 8, bucket = 0, coding",
                        "random rounding to 2^(bits - 1) levels of the largest magnitude"),
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

bool takes(const CodecInfo& info, std::string_view option) {
  return info.options.find(option) != std::string_view::npos;
}

void refuse_coding(const CodecInfo& info) {
  std::string able;
  for (const CodecInfo& other : infos)
    if (takes(other, "coding")) able += (able.empty() ? "" : ", ") + std::string(other.kind);
  throw ConfigError("codec.coding: " + std::string(info.kind) +
                    " has no symbols to code, allowed is \"fixed\"; with symbols are " + able);
}

}  // namespace

std::span<const CodecInfo> codec_table() {
  return infos;
}

bool has_coding(std::string_view kind) {
  return std::ranges::any_of(
      infos, [&](const CodecInfo& info) { return info.kind == kind && takes(info, "coding"); });
}

template <class T>
std::unique_ptr<Codec<T>> make_codec(const CodecOptions& options) {
  for (const Entry& e : table) {
    if (e.info.kind != options.kind) continue;
    const bool passed_on = takes(e.info, "then") && !options.then.empty();
    if (options.coding != Coding::fixed && !takes(e.info, "coding") && !passed_on)
      refuse_coding(e.info);
    std::unique_ptr<Codec<T>> made;
    if constexpr (sizeof(T) == 4)
      made = e.make_float(options);
    else
      made = e.make_double(options);
    made->options_ = options;
    return made;
  }
  throw ConfigError(not_allowed("codec.kind", options.kind, kinds));
}

template std::unique_ptr<Codec<float>> make_codec<float>(const CodecOptions&);
template std::unique_ptr<Codec<double>> make_codec<double>(const CodecOptions&);

}  // namespace ticopd
