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

// What a codec promises: E||Q(v) / rescale - v||^2 <= relative ||v||^2 + absolute for every v.
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
  bool may_follow = false;  // as codec.then, behind a sparsifier
};

template <class T>
class Codec;
// Throws ConfigError, naming `codec.KEY`, for an unknown kind or an option out of range.
template <class T>
std::unique_ptr<Codec<T>> make_codec(const CodecOptions& options);

// Q = DEC o ENC on one row. ENC really makes bytes; DEC reads those bytes and nothing else of the
// sender, besides the message's name (seed, round, agent, channel), which its frame carries.
// The arithmetic is frozen in docs/wire_format.md.
template <class T>
class Codec {
 public:
  virtual ~Codec() = default;

  // Replaces `out` by the payload of v, at most payload_bytes(v.size()) bytes. False if v, or a
  // norm of it, is not finite; `out` is then unspecified.
  [[nodiscard]] virtual bool encode(std::span<const T> v, const MessageId& message,
                                    Bytes& out) const = 0;

  // Writes DEC(in) to all of q. False if `in` cannot be a payload of q.size() coordinates; q is
  // then unspecified. Never reads or writes out of bounds, whatever `in` holds.
  [[nodiscard]] virtual bool decode(std::span<const std::byte> in, const MessageId& message,
                                    std::span<T> q) const = 0;

  // The two above are all that a codec has to have. These two do the same in fewer sweeps over
  // memory, for codecs that can; unless overridden they go through whole rows.

  // Takes in the coordinates first ... first + q.size() - 1 of what was decoded.
  using Use = std::function<void(std::size_t first, std::span<const T> q)>;

  // ENC(x - h), then DEC of it, which is handed to `sent` once for each stretch of coordinates, in
  // ascending order. `sent` may overwrite h there: nobody reads it any more. False, without a call
  // of `sent`, where encode would be false.
  [[nodiscard]] virtual bool encode_difference(std::span<const T> x, std::span<const T> h,
                                               const MessageId& message, Bytes& out,
                                               const Use& sent) const;

  // DEC(in) of d coordinates, handed to `use` in the same way. False, without a call of `use`,
  // where decode would be false: a refused payload changes nothing.
  [[nodiscard]] virtual bool decode_in_chunks(std::span<const std::byte> in,
                                              const MessageId& message, std::size_t d,
                                              const Use& use) const;

  // The longest payload of d coordinates; of a code of fixed length, every payload.
  virtual std::size_t payload_bytes(std::size_t d) const = 0;
  virtual bool fixed_length() const { return true; }

  // What the papers would count for one message, whatever it says; and for this very message,
  // where that depends on what it says.
  virtual double paper_bits(std::size_t d) const = 0;
  virtual double paper_bits_of(std::span<const std::byte>, std::size_t d) const {
    return paper_bits(d);
  }

  virtual ErrorBound error_bound(std::size_t d) const = 0;
  // delta of E||Q(v) - v||^2 <= (1 - delta)^2 ||v||^2; empty where Q does not contract.
  std::optional<double> contraction(std::size_t d) const;

  // How many coordinates of v lie outside the range that this message can tell apart.
  virtual std::uint64_t saturated(const Source<T>&, const MessageId&) const { return 0; }

  // A lossless codec carries v itself, not v - h: h + (v - h) is not v in floating point.
  virtual bool lossless() const { return false; }

  // False: of this name there is no message at all, and no channel that could disturb it.
  virtual bool travels(const MessageId&) const { return true; }

  // What make_codec made it of; null for a codec of one's own. The GPU finds its kernels by it.
  const CodecOptions* options() const { return options_ ? &*options_ : nullptr; }

 private:
  friend std::unique_ptr<Codec> make_codec<T>(const CodecOptions&);
  std::optional<CodecOptions> options_;
};

extern template class Codec<float>;
extern template class Codec<double>;

// Whether codecs of this kind can have another coding than `fixed`.
bool has_coding(std::string_view kind);

extern template std::unique_ptr<Codec<float>> make_codec<float>(const CodecOptions&);
extern template std::unique_ptr<Codec<double>> make_codec<double>(const CodecOptions&);

}  // namespace ticopd
