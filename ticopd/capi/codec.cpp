#include "ticopd/codecs/codec.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <variant>

#include "ticopd/capi/handles.hpp"
#include "ticopd/codecs/table.hpp"
#include "ticopd/error.hpp"
#include "ticopd/experiment/config.hpp"
#include "ticopd/experiment/prepare.hpp"

using namespace ticopd;
using capi::call;
using capi::require;
using nlohmann::json;

struct tc_codec : ticopd::capi::Held {
  std::variant<std::shared_ptr<const Codec<float>>, std::shared_ptr<const Codec<double>>> codec;
  Bytes payload;  // of the last call
};

namespace {

// A config with this codec and nothing else: so its options are read and checked by the same code.
Config config_of(const json& options) {
  if (!options.is_object())
    throw ConfigError("codec: allowed is a table such as {\"kind\": \"qsgd\", \"bits\": 4}");
  return Config::from_json({{"codec", options},
                            {"algorithm", {{"name", "choco_gossip"}, {"gamma", 1}}},
                            {"problem", {{"objective", "least_squares"}, {"data", "synthetic"}}}},
                           ".");
}

template <class T>
bool encode(const Codec<T>& codec, const void* v, std::size_t d, const MessageId& message,
            Bytes& payload) {
  return codec.encode({static_cast<const T*>(v), d}, message, payload);
}

template <class T>
bool encode_into(const Codec<T>& codec, const void* v, std::size_t d, const MessageId& message,
                 std::span<std::byte> out) {
  if (!codec.fixed_length())
    throw UsageError("size: the payloads of this codec have no fixed length; use tc_codec_encode");
  if (out.size() != codec.payload_bytes(d))
    throw UsageError(fmt::format("size = {}: a payload of {} numbers has {} bytes", out.size(), d,
                                 codec.payload_bytes(d)));
  return codec.encode_into({static_cast<const T*>(v), d}, message, out);
}

template <class T>
bool decode(const Codec<T>& codec, std::span<const std::byte> payload, const MessageId& message,
            void* v, std::size_t d) {
  return codec.decode(payload, message, {static_cast<T*>(v), d});
}

json about(const auto& codec, std::size_t d) {
  const ErrorBound bound = codec.error_bound(d);
  return {{"payload_bytes", codec.payload_bytes(d)},
          {"fixed_length", codec.fixed_length()},
          {"paper_bits", codec.paper_bits(d)},
          {"lossless", codec.lossless()},
          {"unbiased", bound.unbiased},
          {"relative_error", bound.relative},
          {"absolute_error", bound.absolute}};
}

// Messages number coordinates with 32 bits.
void check_length(std::size_t d) {
  if (d == 0 || d > (std::size_t{1} << 32))
    throw UsageError(fmt::format("a message of {} numbers: allowed is 1 to 2^32", d));
}

}  // namespace

extern "C" {

int tc_codec_open(const char* options, int precision, tc_codec** codec) {
  return call([&] {
    require(codec, "codec");
    *codec = nullptr;
    const Config config = config_of(capi::read_json(options, "codec"));
    auto made = std::make_shared<tc_codec>();
    if (precision == TC_FLOAT)
      made->codec = configured_codec<float>(config);
    else if (precision == TC_DOUBLE)
      made->codec = configured_codec<double>(config);
    else
      throw UsageError(
          fmt::format("precision = {}: allowed are 4 (float) and 8 (double)", precision));
    *codec = capi::new_handle(made);
  });
}

void tc_codec_close(tc_codec* codec) {
  capi::close_handle(codec);
}

int tc_codec_encode(tc_codec* codec, const void* v, size_t d, uint64_t seed, uint32_t round,
                    uint32_t agent, uint16_t channel, const void** bytes, size_t* size) {
  return call([&] {
    const capi::Use<tc_codec> use(codec, "codec");
    require(v, "v");
    require(bytes, "bytes");
    require(size, "size");
    check_length(d);
    const MessageId message{seed, round, agent, channel};
    if (!std::visit([&](const auto& c) { return encode(*c, v, d, message, use->payload); },
                    use->codec))
      throw FormatError("encode: the row or its norm is not finite");
    *bytes = use->payload.data();
    *size = use->payload.size();
  });
}

int tc_codec_encode_into(tc_codec* codec, const void* v, size_t d, uint64_t seed, uint32_t round,
                         uint32_t agent, uint16_t channel, void* bytes, size_t size) {
  return call([&] {
    const capi::Use<tc_codec> use(codec, "codec");
    require(v, "v");
    require(bytes, "bytes");
    check_length(d);
    const MessageId message{seed, round, agent, channel};
    const std::span out(static_cast<std::byte*>(bytes), size);
    if (!std::visit([&](const auto& c) { return encode_into(*c, v, d, message, out); }, use->codec))
      throw FormatError("encode: the row or its norm is not finite");
  });
}

int tc_codec_decode(tc_codec* codec, const void* bytes, size_t size, uint64_t seed, uint32_t round,
                    uint32_t agent, uint16_t channel, void* v, size_t d) {
  return call([&] {
    const capi::Use<tc_codec> use(codec, "codec");
    require(v, "v");
    if (size > 0) require(bytes, "bytes");
    check_length(d);
    const MessageId message{seed, round, agent, channel};
    const std::span payload(static_cast<const std::byte*>(bytes), size);
    if (!std::visit([&](const auto& c) { return decode(*c, payload, message, v, d); }, use->codec))
      throw FormatError(
          fmt::format("decode: these {} bytes are no payload of {} numbers", size, d));
  });
}

int tc_codec_about(const tc_codec* codec, size_t d, char** text) {
  return call([&] {
    const auto found = capi::find(codec, "codec");
    check_length(d);
    capi::give(std::visit([&](const auto& c) { return about(*c, d); }, found->codec), text);
  });
}
}
