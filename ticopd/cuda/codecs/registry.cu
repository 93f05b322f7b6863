#include <cmath>

#include "ticopd/cuda/codecs/codecs.hpp"

namespace ticopd::cuda {
namespace {

// Coordinates are counted in 32 bits, with room for the tiles at the end of a row.
constexpr std::size_t longest_row = std::size_t{1} << 31;
// The most thread blocks of a grid. Each has at least sixteen coordinates.
constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

// Encodes whole rows with a RowQuantiser.
class QuantisedCodec final : public DeviceCodec {
 public:
  QuantisedCodec(std::unique_ptr<RowQuantiser> rows, const CodecOptions& options, std::size_t d,
                 std::size_t messages)
      : rows_(std::move(rows)), d_(d), states_(messages) {
    tally_.all = options.kind == "adaptive" ? std::log2(3.0)  // per digit
                                            : make_codec<float>(options)->paper_bits(d);
  }

  void exchange(Queue& queue, const Exchange& e) override {
    rows_->record(queue, e, Input{.length = d_}, states_.data(), tally_);
  }
  bool wants_squares() const override { return rows_->wants_squares(); }
  Bytes payload(std::size_t message) const override { return rows_->payload(message, d_); }

 private:
  std::unique_ptr<RowQuantiser> rows_;
  std::size_t d_;
  Buffer<MessageState> states_;
  Tally tally_;
};

struct Entry {
  std::string_view kind;
  MadeCodec (*make)(const CodecOptions&, std::size_t, std::size_t);
};

// To add a codec, write a file and add a line here.
constexpr Entry table[] = {
    {"identity", make_identity},
    {"qsgd", make_quantised},
    {"infinity", make_quantised},
    {"top_k", make_top_k},
    {"sign", make_quantised},
    {"norm_sign", make_quantised},
    {"rand_k", make_rand_k},
    {"natural", make_quantised},
    {"random_gossip", make_random_gossip},
    {"threshold", make_threshold},
    {"grid", make_quantised},
    {"adaptive", make_quantised},
};

}  // namespace

MadeCodec make_quantised(const CodecOptions& options, std::size_t d, std::size_t messages) {
  std::unique_ptr<RowQuantiser> rows = make_row_quantiser(options, d, messages);
  if (!rows) return nullptr;
  return std::make_unique<QuantisedCodec>(std::move(rows), options, d, messages);
}

MadeCodec make_device_codec(const CodecOptions& options, std::size_t d, std::size_t messages) {
  if (d == 0 || d >= longest_row || messages == 0 || (d / 16 + 1) * messages > most_blocks)
    return nullptr;
  (void)make_codec<float>(options);  // the same ConfigError as the host's
  for (const Entry& e : table)
    if (e.kind == options.kind) return e.make(options, d, messages);
  return nullptr;
}

}  // namespace ticopd::cuda
