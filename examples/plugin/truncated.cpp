// A codec of your own, with an option: ticopd run FILE --plugin ./truncated.so
//   --set codec.kind=truncated --set codec.bytes=3
#include <bit>
#include <cmath>
#include <ticopd/plugin.hpp>

namespace {

using ticopd::Bytes;
using ticopd::CodecOptions;
using ticopd::MessageId;

// The upper two or three bytes of a float for each coordinate.
template <class T>
class Truncated final : public ticopd::Codec<T> {
 public:
  static constexpr ticopd::CodecAbout about{
      .name = "truncated", .options = {"bytes"}, .summary = "the upper bytes of a float"};

  explicit Truncated(const CodecOptions& options)
      : bytes_(static_cast<std::size_t>(ticopd::own_value<std::int64_t>(options, "bytes"))) {}

  // A random codec would draw ticopd::Noise{message}.uniform(k), and nothing else.
  bool encode(std::span<const T> v, const MessageId&, Bytes& out) const override {
    out.resize(payload_bytes(v.size()));
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto f = static_cast<float>(v[k]);
      if (!std::isfinite(f)) return false;  // the run stops and names the agent
      const auto bits = std::bit_cast<std::uint32_t>(f);
      for (std::size_t b = 0; b < bytes_; ++b)  // low byte first, on any machine
        out[bytes_ * k + b] = static_cast<std::byte>(bits >> (8 * (4 - bytes_ + b)));
    }
    return true;
  }

  // The bytes come from outside, so reject those that encode() cannot have made.
  bool decode(std::span<const std::byte> in, const MessageId&, std::span<T> q) const override {
    if (in.size() != payload_bytes(q.size())) return false;
    for (std::size_t k = 0; k < q.size(); ++k) {
      std::uint32_t bits = 0;
      for (std::size_t b = 0; b < bytes_; ++b)
        bits |= std::to_integer<std::uint32_t>(in[bytes_ * k + b]) << (8 * (4 - bytes_ + b));
      const auto f = std::bit_cast<float>(bits);
      if (!std::isfinite(f)) return false;
      q[k] = static_cast<T>(f);
    }
    return true;
  }

  std::size_t payload_bytes(std::size_t d) const override { return bytes_ * d; }
  double paper_bits(std::size_t d) const override { return 8.0 * static_cast<double>(bytes_ * d); }

  // 7 or 15 stored bits of mantissa remain: |Q(v) - v| <= 2^-7 |v|, or 2^-15 |v|.
  ticopd::ErrorBound error_bound(std::size_t) const override {
    return {bytes_ == 2 ? 0x1p-14 : 0x1p-30};
  }

 private:
  std::size_t bytes_;
};

}  // namespace

TICOPD_PLUGIN("truncated", "1.0") {
  using namespace ticopd;
  codec_options_table().add(own_option<CodecOptions>("bytes", domain::whole(2, 3), std::int64_t{2},
                                                     "`truncated`: bytes of a coordinate")
                                .said("{} bytes"));
  codec_table().add(codec_info<Truncated>());
}
