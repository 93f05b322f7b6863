#include <algorithm>
#include <bit>
#include <cmath>

#include "ticopd/codecs/indices.hpp"
#include "ticopd/codecs/infinity.hpp"
#include "ticopd/codecs/qsgd.hpp"
#include "ticopd/codecs/subset_size.hpp"
#include "ticopd/cuda/codecs/codecs.hpp"
#include "ticopd/cuda/codecs/indices.cuh"
#include "ticopd/cuda/codecs/measure.cuh"
#include "ticopd/cuda/codecs/select.cuh"

namespace ticopd::cuda {
namespace {

// The bits that the paper counts for a level of the inner codec, which sends n level + n + 32 norms
// bits. They are an integer, except for qsgd.
double level_bits(const CodecOptions& options) {
  const auto bits = static_cast<unsigned>(options.bits);
  if (options.then == "qsgd") return EuclideanNorm::paper_bits(EuclideanNorm::top_level(bits));
  if (options.then == "infinity")
    return LargestMagnitude::paper_bits(LargestMagnitude::top_level(bits));
  return options.then == "natural" ? 8 : options.then.empty() ? 31 : 0;
}

// top_k and threshold: some coordinates, their indices, and the values, unchanged or encoded by an
// inner codec as a row of their own.
class KeptCodec final : public DeviceCodec {
 public:
  KeptCodec(const CodecOptions& options, std::size_t d, std::size_t most, std::size_t messages,
            std::unique_ptr<RowQuantiser> inner)
      : options_(options),
        d_(d),
        top_k_(options.kind == "top_k"),
        most_(most),
        inner_(std::move(inner)),
        tiles_(tiles_of(d, block_coordinates)),
        values_stride_(padded(most)),
        planes_stride_((most * index_bits(d) + 31) / 32),
        states_(messages),
        cuts_(top_k_ ? messages : 0),
        histograms_(top_k_ ? messages * select_bins : 0),
        finite_(d, top_k_ ? 0 : messages),
        tiles_before_(messages * tiles_),
        values_(messages * values_stride_),
        indices_(messages * values_stride_),
        lengths_(messages),
        planes_(options.coding == Coding::fixed ? messages * planes_stride_ : 0),
        index_bytes_(messages) {
    tally_.all = make_codec<float>(options)->paper_bits(d);
    tally_.level = level_bits(options);
    tally_.norm = options.then.empty() || options.then == "natural" ? 0 : 32;
    tally_.index = index_bits(d);
    tally_.depends = top_k_ ? 0 : 1;
  }

  void exchange(Queue& queue, const Exchange& e) override {
    if (top_k_)
      select(queue, e);
    else
      finite_.record(queue, e, states_.data());
    const Keeping keeping{.states = states_.data(),
                          .cuts = top_k_ ? cuts_.data() : nullptr,
                          .largest = finite_.largest(),
                          .tiles_before = tiles_before_.data(),
                          .values = values_.data(),
                          .indices = indices_.data(),
                          .lengths = lengths_.data(),
                          .tiles_stride = tiles_,
                          .values_stride = values_stride_,
                          .share = static_cast<float>(options_.threshold),
                          .tiles = tiles_};
    const Grid rows = grid_of(tiles_, e);
    queue.launch(count_kept, rows, e, keeping);
    const bool noisy = is_noisy(e);
    if (inner_)
      queue.launch(place_kept<Place::gather, false>, rows, ThisRound{}, e, keeping);
    else
      queue.launch(noisy ? place_kept<Place::gather_and_apply, true>
                         : place_kept<Place::gather_and_apply, false>,
                   rows, ThisRound{}, e, keeping);
    send_indices(queue, e);
    if (!inner_) return;
    Tally rest = tally_;
    rest.more = index_bytes_.data();
    const Input kept{.kept = values_.data(),
                     .stride = values_stride_,
                     .lengths = top_k_ ? nullptr : lengths_.data(),
                     .length = most_};
    inner_->record(queue, e, kept, states_.data(), rest);
    queue.launch(noisy ? place_kept<Place::apply, true> : place_kept<Place::apply, false>, rows,
                 ThisRound{}, e, keeping);
  }

  Bytes payload(std::size_t message) const override {
    if (options_.coding != Coding::fixed) return {};
    const std::size_t n = lengths_.download()[message];
    Bytes out(count_bytes());
    store_word(n, out);
    const Bytes indices =
        download(planes_.data() + message * planes_stride_, plane_bytes(n, index_bits(d_)));
    const Bytes values =
        inner_ ? inner_->payload(message, n)
               : download(values_.data() + message * values_stride_, n * sizeof(float));
    for (const Bytes* part : {inner_ ? &indices : &values, inner_ ? &values : &indices})
      out.insert(out.end(), part->begin(), part->end());
    return out;
  }

 private:
  std::size_t count_bytes() const {
    return top_k_ ? 0 : (static_cast<std::size_t>(std::bit_width(d_)) + 7) / 8;
  }

  void select(Queue& queue, const Exchange& e) {
    const Selection to{.states = states_.data(),
                       .cuts = cuts_.data(),
                       .histograms = histograms_.data(),
                       .k = static_cast<std::uint32_t>(most_),
                       .tiles = tiles_of(d_, select_coordinates)};
    const Grid grid = grid_of(to.tiles, e, select_threads);
    queue.launch(select_digit<0>, grid, ThisRound{}, e, to);
    queue.launch(select_digit<1>, grid, ThisRound{}, e, to);
    queue.launch(select_digit<2>, grid, ThisRound{}, e, to);
  }

  void send_indices(Queue& queue, const Exchange& e) {
    IndexPart to{.tally = tally_,
                 .states = states_.data(),
                 .indices = indices_.data(),
                 .lengths = lengths_.data(),
                 .planes = planes_.data(),
                 .bytes = index_bytes_.data(),
                 .indices_stride = values_stride_,
                 .planes_stride = planes_stride_,
                 .width = index_bits(d_),
                 .count_bytes = static_cast<std::uint32_t>(count_bytes()),
                 .values_follow = inner_ ? 1u : 0u,
                 .tiles = tiles_of(planes_stride_, block_threads)};
    if (options_.coding == Coding::fixed)
      queue.launch(write_indices, grid_of(to.tiles, e), e, to);
    else
      queue.launch(count_gaps, grid_of(1, e), e, to);
  }

  CodecOptions options_;
  std::size_t d_;
  bool top_k_;
  std::size_t most_;                     // coordinates kept
  std::unique_ptr<RowQuantiser> inner_;  // null: values are sent unchanged
  std::uint32_t tiles_;
  std::uint64_t values_stride_, planes_stride_;
  Buffer<MessageState> states_;
  Buffer<Cut> cuts_;
  Buffer<std::uint32_t> histograms_;
  FiniteRows finite_;  // threshold
  Buffer<uint2> tiles_before_;
  Buffer<float> values_;
  Buffer<std::uint32_t> indices_, lengths_, planes_, index_bytes_;
  Tally tally_;
};

MadeCodec make_kept(const CodecOptions& options, std::size_t d, std::size_t most,
                    std::size_t messages) {
  std::unique_ptr<RowQuantiser> inner;
  if (!options.then.empty()) {
    CodecOptions of_values = options;
    of_values.kind = options.then;
    inner = make_row_quantiser(of_values, most, messages);
    if (!inner) return nullptr;
  }
  return std::make_unique<KeptCodec>(options, d, most, messages, std::move(inner));
}

}  // namespace

MadeCodec make_top_k(const CodecOptions& options, std::size_t d, std::size_t messages) {
  return make_kept(options, d, SubsetSize(options).of(d), messages);
}

MadeCodec make_threshold(const CodecOptions& options, std::size_t d, std::size_t messages) {
  return make_kept(options, d, d, messages);
}

}  // namespace ticopd::cuda
