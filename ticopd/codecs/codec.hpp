#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ticopd/bytes.hpp"
#include "ticopd/codecs/source.hpp"
#include "ticopd/numeric/noise.hpp"
#include "ticopd/option.hpp"

namespace ticopd {

// How the symbols of a quantiser become bits: planes of fixed width, an entropy coder, or the Elias
// code of the QSGD paper (levels.hpp).
enum class Coding { fixed, entropy, elias };
constexpr std::array<std::string_view, 3> words_of(Coding) {
  return {"fixed", "entropy", "elias"};
}

// The error bound of a codec: E||Q(v) / rescale - v||^2 <= relative ||v||^2 + absolute for every v.
struct ErrorBound {
  double relative = 0;
  double absolute = 0;
  double rescale = 1;
  bool unbiased = false;  // E Q(v) = v
};

// The options of all codecs with their defaults. codecs/options.cpp says what each one means and
// which values it may have. A kind ignores the options that it does not take.
struct CodecOptions {
  std::string kind = "identity";
  int bits = 8;
  bool scaled = true;
  std::size_t bucket = 0;
  std::optional<std::size_t> k = {};
  std::optional<double> fraction = {};
  bool unbiased = false;
  double threshold = 0.1;
  double p = 0.5;
  double omega = 0.25;
  double step = 1e-3;
  std::string then = "";
  Coding coding = Coding::fixed;
  double r0 = 1, kappa = 0.99;
  OwnOptions own = {};  // options that a program registered (codecs/table.hpp)
};

// What a codec's class says of itself, as `static constexpr CodecAbout about`.
struct CodecAbout {
  std::string_view name;                         // the word of codec.kind
  std::array<std::string_view, 6> options = {};  // the options it takes
  std::string_view summary = "";
  bool may_follow = false;              // as codec.then, behind a sparsifier
  std::string_view unbiased_with = "";  // the option that makes it unbiased, "scaled = false"
  std::string_view in_words = "";       // in reports; empty: the name
};

template <class T>
class Codec;
// Throws ConfigError, naming `codec.KEY`, for an unknown kind or an option out of range.
template <class T>
std::unique_ptr<Codec<T>> make_codec(const CodecOptions& options);

// Q = DEC o ENC on one row. ENC produces the real bytes. DEC reads those bytes and the message id
// (seed, round, agent, channel), which the frame carries, and nothing else of the sender. The
// arithmetic is frozen in docs/wire_format.md.
template <class T>
class Codec {
 public:
  virtual ~Codec() = default;

  // Replaces `out` by the payload of v, at most payload_bytes(v.size()) bytes. Returns false if v
  // or one of its norms is not finite; `out` is then unspecified.
  [[nodiscard]] virtual bool encode(std::span<const T> v, const MessageId& message,
                                    Bytes& out) const = 0;

  // The same, into memory of the caller's: exactly payload_bytes(v.size()) bytes, for codecs of
  // fixed length. By default through a copy.
  [[nodiscard]] virtual bool encode_into(std::span<const T> v, const MessageId& message,
                                         std::span<std::byte> out) const;

  // Writes DEC(in) to all of q. Returns false if `in` cannot be a payload of q.size() coordinates;
  // q is then unspecified. Never reads or writes out of bounds, whatever `in` holds.
  [[nodiscard]] virtual bool decode(std::span<const std::byte> in, const MessageId& message,
                                    std::span<T> q) const = 0;

  // A codec must define only encode and decode. The next two functions do the same work in fewer
  // sweeps over memory, for codecs that override them. The defaults go through whole rows.

  // Receives the decoded coordinates first ... first + q.size() - 1.
  using Use = std::function<void(std::size_t first, std::span<const T> q)>;

  // Encodes x - h, then decodes the payload and passes the result to `sent`, one call per range of
  // coordinates, in ascending order. `sent` may overwrite h in that range, because h is not read
  // there again. Returns false, without a call of `sent`, if encode would return false.
  [[nodiscard]] virtual bool encode_difference(std::span<const T> x, std::span<const T> h,
                                               const MessageId& message, Bytes& out,
                                               const Use& sent) const;

  // Decodes d coordinates from `in` and passes them to `use` in the same way. Returns false,
  // without a call of `use`, if decode would return false: a rejected payload changes nothing.
  [[nodiscard]] virtual bool decode_in_chunks(std::span<const std::byte> in,
                                              const MessageId& message, std::size_t d,
                                              const Use& use) const;

  // The largest payload of d coordinates, in bytes. With a fixed-length code every payload has this
  // size.
  virtual std::size_t payload_bytes(std::size_t d) const = 0;
  virtual bool fixed_length() const { return true; }

  // The bits that the papers count for one message. paper_bits_of counts this very payload, for
  // codecs whose count depends on the content.
  virtual double paper_bits(std::size_t d) const = 0;
  virtual double paper_bits_of(std::span<const std::byte>, std::size_t d) const {
    return paper_bits(d);
  }

  virtual ErrorBound error_bound(std::size_t d) const = 0;
  // delta of E||Q(v) - v||^2 <= (1 - delta)^2 ||v||^2; empty if Q does not contract.
  std::optional<double> contraction(std::size_t d) const;

  // The number of coordinates of v outside the range that this message can represent.
  virtual std::uint64_t saturated(const Source<T>&, const MessageId&) const { return 0; }

  // A lossless codec carries v itself, not v - h: h + (v - h) is not v in floating point.
  virtual bool lossless() const { return false; }

  // False if no message is sent under this id. Channel noise then has nothing to disturb.
  virtual bool travels(const MessageId&) const { return true; }

  // The options that make_codec was given; null for a user's own codec. The GPU chooses its kernels
  // by them.
  const CodecOptions* options() const { return options_ ? &*options_ : nullptr; }

 private:
  friend std::unique_ptr<Codec> make_codec<T>(const CodecOptions&);
  std::optional<CodecOptions> options_;
};

extern template class Codec<float>;
extern template class Codec<double>;

// True if codecs of this kind accept codings other than `fixed`.
bool has_coding(std::string_view kind);

// Names what to set so that messages become unbiased: an option of this codec, or another kind.
std::string unbiased_alternative(const CodecOptions& options);

extern template std::unique_ptr<Codec<float>> make_codec<float>(const CodecOptions&);
extern template std::unique_ptr<Codec<double>> make_codec<double>(const CodecOptions&);

}  // namespace ticopd
