#include "ticopd/codecs/table.hpp"

#include <algorithm>

#include "ticopd/codecs/adaptive.hpp"
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
using BestQsgd = Qsgd<T>;
template <class T>
using BestSign = Sign<T>;
template <class T>
using BestNormSign = NormSign<T>;
template <class T>
using BestInfinity = Infinity<T>;

[[noreturn]] void refuse_coding(const CodecInfo& info) {
  std::string able;
  for (const CodecInfo& other : codec_table())
    if (other.takes("coding")) able += (able.empty() ? "" : ", ") + other.name;
  throw ConfigError("codec.coding: " + info.name +
                    " has no symbols to code, allowed is \"fixed\"; with symbols are " + able);
}

}  // namespace

// A new codec is a header and a line here. The table is explicit because a linker drops from a
// static library the object files that only their own static initializers refer to.
Table<CodecInfo>& codec_table() {
  static Table<CodecInfo> table("codec.kind", {
                                                  codec_info<Identity>(),
                                                  codec_info<BestQsgd>(),
                                                  codec_info<TopK>(),
                                                  codec_info<RandK>(),
                                                  codec_info<BestSign>(),
                                                  codec_info<Natural>(),
                                                  codec_info<BestNormSign>(),
                                                  codec_info<RandomGossip>(),
                                                  codec_info<Adaptive>(),
                                                  codec_info<Threshold>(),
                                                  codec_info<Grid>(),
                                                  codec_info<BestInfinity>(),
                                              });
  return table;
}

bool CodecInfo::takes(std::string_view option) const {
  return std::ranges::find(options, option) != options.end();
}

bool has_coding(std::string_view kind) {
  const CodecInfo* info = codec_table().find(kind);
  return info && info->takes("coding");
}

std::string unbiased_alternative(const CodecOptions& options) {
  constexpr std::size_t any_dimension = 1000;
  const CodecInfo& info = codec_table().at(options.kind);
  if (!info.unbiased_with.empty() && options.then.empty()) return "codec." + info.unbiased_with;
  std::string kinds;
  for (const CodecInfo& other : codec_table()) {
    CodecOptions plain{.kind = other.name};
    plain.k = 1;
    if (other.name != options.kind &&
        make_codec<double>(plain)->error_bound(any_dimension).unbiased &&
        !make_codec<double>(plain)->lossless())
      kinds += (kinds.empty() ? "" : ", ") + other.name;
  }
  return "codec.kind to one of " + kinds;
}

template <class T>
std::unique_ptr<Codec<T>> make_codec(const CodecOptions& options) {
  const CodecInfo& info = codec_table().at(options.kind);
  check_options(codec_options_table(), info.options, options, "codec");
  const bool passed_on = info.takes("then") && !options.then.empty();
  if (options.coding != Coding::fixed && !info.takes("coding") && !passed_on) refuse_coding(info);
  std::unique_ptr<Codec<T>> made;
  if constexpr (sizeof(T) == 4)
    made = info.make_float(options);
  else
    made = info.make_double(options);
  made->options_ = options;
  return made;
}

template std::unique_ptr<Codec<float>> make_codec<float>(const CodecOptions&);
template std::unique_ptr<Codec<double>> make_codec<double>(const CodecOptions&);

}  // namespace ticopd
