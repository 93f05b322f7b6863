#include <numeric>
#include <vector>

#include "ticopd/codecs/buckets.hpp"
#include "ticopd/codecs/infinity.hpp"
#include "ticopd/codecs/plane_offsets.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/cuda/codecs/measure.cuh"
#include "ticopd/cuda/codecs/quantised.hpp"
#include "ticopd/cuda/codecs/symbols.cuh"

namespace ticopd::cuda {
namespace {

// A RowQuantiser with the arithmetic of Q (quantisers.cuh).
template <class Q>
class Quantised final : public RowQuantiser {
 public:
  Quantised(const CodecOptions& options, const Q& how, std::size_t length, std::size_t messages,
            std::vector<double> points = {})
      : how_(how),
        bucket_(static_cast<std::uint32_t>(
            traits.has_norms && options.bucket <= length ? options.bucket : 0)),
        coding_(options.coding),
        planes_(options.coding == Coding::fixed && !traits.is_ternary),
        length_(length),
        tiles_(tiles_of(length, block_coordinates)),
        gauges_stride_(Buckets(length, bucket_).count),
        parts_stride_(most_parts(length, bucket_)),
        payload_stride_((most_bytes() + 15) / 16 * 16),
        gauges_(messages * gauges_stride_),
        parts_(messages * parts_stride_),
        payload_(messages * payload_stride_),
        histograms_(planes_ ? 0 : messages * most_tokens),
        digits_of_tiles_(makes_digits() ? messages * tiles_ : 0),
        points_(points) {
    if constexpr (Q::traits.has_table) how_.points = points_.data();
  }

  bool wants_squares() const override { return traits.takes_squares && bucket_ == 0; }

  void record(Queue& queue, const Exchange& e, const Input& from, MessageState* states,
              const Tally& tally) override {
    const Measure<Q> measure{.how = how_,
                             .states = states,
                             .gauges = gauges_.data(),
                             .parts = parts_.data(),
                             .payload = payload_.data(),
                             .gauges_stride = gauges_stride_,
                             .parts_stride = parts_stride_,
                             .payload_stride = payload_stride_,
                             .bucket = bucket_,
                             .tiles = 0};
    if (!record_squares(queue, e, from, measure))
      record_measure<Q>(queue, e, from, measure, length_);
    if (from.kept != nullptr)
      record_symbols<Sink::keep>(queue, e, from, states, tally);
    else if (is_noisy(e))
      record_symbols<Sink::apply_with_noise>(queue, e, from, states, tally);
    else
      record_symbols<Sink::apply>(queue, e, from, states, tally);
  }

  Bytes payload(std::size_t message, std::size_t length) const override {
    if (!planes_ && !makes_digits()) return {};
    std::size_t bytes = plane_payload(length);
    if (makes_digits()) {
      const std::vector<std::uint32_t> digits = digits_of_tiles_.download();
      const auto first = digits.begin() + static_cast<std::ptrdiff_t>(message * tiles_);
      bytes = ternary_bytes(std::accumulate(first, first + tiles_, std::size_t{0}));
    }
    return download(payload_.data() + message * payload_stride_, bytes);
  }

 private:
  static constexpr QuantiserTraits traits = Q::traits;

  bool makes_digits() const { return traits.is_ternary && coding_ == Coding::fixed; }

  std::size_t norm_count(std::size_t length) const {
    return traits.has_norms ? Buckets(length, bucket_).count : 0;
  }
  std::size_t plane_payload(std::size_t length) const {
    return PlaneOffsets(norm_count(length), length, how_.bits, traits.has_signs).bytes;
  }
  // Without planes or digits only the norms are written.
  std::size_t most_bytes() const {
    if (makes_digits()) return ternary_bytes(length_ * ternary_digits(how_.most));
    return planes_ ? plane_payload(length_) : sizeof(float) * norm_count(length_);
  }

  // Uses the rows' squares, if they exist, instead of a sweep over the rows.
  bool record_squares(Queue& queue, const Exchange& e, const Input& from, const Measure<Q>& to) {
    if constexpr (traits.takes_squares)
      if (e.squares != nullptr && from.kept == nullptr && bucket_ == 0) {
        const Grid grid{
            .blocks = e.count, .threads = block_threads, .early = true, .small = e.count <= 64};
        queue.launch(measure_squares<Q>, grid, ThisRound{}, e, to,
                     static_cast<std::uint32_t>(length_));
        return true;
      }
    return false;
  }

  template <Sink sink>
  void record_symbols(Queue& queue, const Exchange& e, const Input& from, MessageState* states,
                      const Tally& tally) {
    const Symbols<Q> to{.how = how_,
                        .tally = tally,
                        .states = states,
                        .gauges = gauges_.data(),
                        .gauges_stride = gauges_stride_,
                        .bucket = bucket_,
                        .tiles = tiles_};
    const Grid grid = grid_of(tiles_, e);
    if (planes_)
      queue.launch(write_planes<Q, sink>, grid, ThisRound{}, e, from, to, payload_.data(),
                   payload_stride_);
    else if constexpr (traits.has_levels) {
      const TernaryDigits digits{.of_tiles = digits_of_tiles_.data(),
                                 .payload = makes_digits() ? payload_.data() : nullptr,
                                 .stride = payload_stride_,
                                 .tiles = tiles_,
                                 .unused = 0};
      if constexpr (traits.is_ternary)
        if (makes_digits())
          queue.launch(count_digits<Q, sink>, grid, ThisRound{}, e, from, to, digits);
      queue.launch(count_symbols<Q, sink>, grid, ThisRound{}, e, from, to, states,
                   histograms_.data(), static_cast<std::uint32_t>(coding_), digits);
    }
  }

  Q how_;
  std::uint32_t bucket_;  // 0: one for the row
  Coding coding_;
  bool planes_;
  std::size_t length_;
  std::uint32_t tiles_;
  std::uint64_t gauges_stride_, parts_stride_, payload_stride_;
  Buffer<typename Q::Gauge> gauges_;
  Buffer<typename Q::Reduce::Value> parts_;
  Buffer<std::uint8_t> payload_;
  Buffer<std::uint32_t> histograms_;
  Buffer<std::uint32_t> digits_of_tiles_;
  Buffer<double> points_;
};

using Made = std::unique_ptr<RowQuantiser>;

template <class Norm>
Made make_rounding(const CodecOptions& options, std::size_t length, std::size_t messages) {
  const std::uint32_t s = Norm::top_level(static_cast<unsigned>(options.bits));
  Rounding<Norm> how{};
  how.top = static_cast<float>(s);
  how.bits = static_cast<std::uint32_t>(options.bits);
  how.most = s;
  how.scaled = options.scaled && Norm::can_scale;
  const Buckets row(length, options.bucket);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t n = row.length_of(i == 0 ? 0 : row.count - 1);
    how.lengths[i] = static_cast<std::uint32_t>(n);
    how.taus[i] =
        static_cast<float>(1.0 + Norm::omega(static_cast<double>(n), static_cast<double>(s)));
  }
  return std::make_unique<Quantised<Rounding<Norm>>>(options, how, length, messages);
}

template <class Q>
Made make_simple(const CodecOptions& options, std::size_t length, std::size_t messages) {
  return std::make_unique<Quantised<Q>>(options, Q{}, length, messages);
}

Made make_cells(const CodecOptions& options, std::size_t length, std::size_t messages) {
  const auto bits = static_cast<std::uint32_t>(options.bits);
  const Cells how{.r0 = options.r0, .kappa = options.kappa, .bits = bits, .most = 1u << (bits - 1)};
  return std::make_unique<Quantised<Cells>>(options, how, length, messages);
}

Made make_points(const CodecOptions& options, std::size_t length, std::size_t messages) {
  std::vector<double> points;
  each_point(options.omega, options.step, [&](double point) { points.push_back(point); });
  Points how{};
  how.last = points.back();
  how.most = static_cast<std::uint32_t>(points.size() - 1);
  return std::make_unique<Quantised<Points>>(options, how, length, messages, std::move(points));
}

struct Entry {
  std::string_view kind;
  Made (*make)(const CodecOptions&, std::size_t, std::size_t);
  bool codes;  // has other codings than fixed
};

constexpr Entry table[] = {
    {"qsgd", make_rounding<EuclideanNorm>, true},
    {"infinity", make_rounding<LargestMagnitude>, true},
    {"sign", make_simple<ScaledSigns<MeanMagnitude>>, false},
    {"norm_sign", make_simple<ScaledSigns<HalfOfLargest>>, false},
    {"natural", make_simple<Powers>, true},
    {"grid", make_cells, true},
    {"adaptive", make_points, true},
};

}  // namespace

Made make_row_quantiser(const CodecOptions& options, std::size_t length, std::size_t messages) {
  for (const Entry& e : table) {
    if (e.kind != options.kind) continue;
    CodecOptions now = options;
    if (!e.codes) now.coding = Coding::fixed;
    if (now.coding == Coding::elias) return nullptr;
    return e.make(now, length, messages);
  }
  return nullptr;
}

Bytes download(const void* from, std::size_t bytes) {
  Bytes to(bytes);
  if (bytes > 0) copy(to.data(), from, bytes);
  return to;
}

}  // namespace ticopd::cuda
