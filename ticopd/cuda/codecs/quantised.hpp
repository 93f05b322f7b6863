#pragma once

#include <memory>

#include "ticopd/cuda/codecs/device_codec.hpp"
#include "ticopd/cuda/codecs/message.cuh"

namespace ticopd::cuda {

// A codec that sweeps twice over each row: it measures the buckets, then turns the coordinates into
// symbols. It encodes the rows of an exchange, or rows that an outer codec kept. Kept rows are
// overwritten with what they decode to.
class RowQuantiser {
 public:
  virtual ~RowQuantiser() = default;
  // `states` holds the verdicts of an outer codec, if there is one, and afterwards those of this
  // codec. Counts the messages.
  virtual void record(Queue& queue, const Exchange& e, const Input& from, MessageState* states,
                      const Tally& tally) = 0;
  virtual bool wants_squares() const { return false; }  // as DeviceCodec
  // The payload of a row of `length` coordinates; empty if no bytes are made.
  virtual Bytes payload(std::size_t message, std::size_t length) const = 0;
};

// Makes one for at most `messages` rows of at most `length` coordinates: qsgd, infinity, sign,
// norm_sign, natural, grid, adaptive. Null for others, and for codings that the device does not
// have.
std::unique_ptr<RowQuantiser> make_row_quantiser(const CodecOptions& options, std::size_t length,
                                                 std::size_t messages);

// Copies bytes from the device's memory.
Bytes download(const void* from, std::size_t bytes);

}  // namespace ticopd::cuda
