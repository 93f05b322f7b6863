#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ticopd/codecs/codec.hpp"
#include "ticopd/option.hpp"
#include "ticopd/table.hpp"

namespace ticopd {

template <class T>
using MakeCodec = std::unique_ptr<Codec<T>> (*)(const CodecOptions&);

// An entry of the table of codecs.
struct CodecInfo {
  std::string name;                  // the word of codec.kind
  std::vector<std::string> options;  // those it takes; make_codec checks their values
  std::string summary;
  bool may_follow = false;         // as codec.then, behind a sparsifier
  std::string unbiased_with = "";  // the option that makes it unbiased, "scaled = false"
  std::string in_words = {};       // in reports; empty: the name
  MakeCodec<float> make_float = nullptr;
  MakeCodec<double> make_double = nullptr;

  bool takes(std::string_view option) const;
};

// The kinds of codecs (table.cpp) and the options of all of them (options.cpp).
Table<CodecInfo>& codec_table();
Table<Option<CodecOptions>>& codec_options_table();

// The name of a codec in reports: "top_k, 2 %, then qsgd, 4 bits, entropy". The words are those of
// its kind and of the options that the kind takes, in the order of `about`; `then` brings the words
// of its codec. A kind that no table knows has its name and the options that differ from their
// defaults.
std::string in_words(const CodecOptions& options);

// The value of an option that CodecOptions has no member for, or its default.
template <class V>
V own_value(const CodecOptions& options, std::string_view name) {
  return own_value<V>(codec_options_table(), options, name);
}

// The entry of a codec class: a template on the scalar type with a constructor from
// const CodecOptions& and a member `about`.
template <template <class> class Kind>
CodecInfo codec_info() {
  const CodecAbout& about = Kind<float>::about;
  CodecInfo info{.name = std::string(about.name),
                 .options = {},
                 .summary = std::string(about.summary),
                 .may_follow = about.may_follow,
                 .unbiased_with = std::string(about.unbiased_with),
                 .in_words = std::string(about.in_words),
                 .make_float = [](const CodecOptions& o) -> std::unique_ptr<Codec<float>> {
                   return std::make_unique<Kind<float>>(o);
                 },
                 .make_double = [](const CodecOptions& o) -> std::unique_ptr<Codec<double>> {
                   return std::make_unique<Kind<double>>(o);
                 }};
  for (const std::string_view option : about.options)
    if (!option.empty()) info.options.emplace_back(option);
  return info;
}

}  // namespace ticopd
