#pragma once

#include "ticopd/cuda/codecs/device_codec.hpp"
#include "ticopd/cuda/codecs/quantised.hpp"

namespace ticopd::cuda {

// Makers of the device's codecs, by how the codecs work; registry.cu has the table. They return
// null if an option asks for what the device does not have.
using MadeCodec = std::unique_ptr<DeviceCodec>;

MadeCodec make_identity(const CodecOptions& options, std::size_t d, std::size_t messages);
MadeCodec make_random_gossip(const CodecOptions& options, std::size_t d, std::size_t messages);
MadeCodec make_quantised(const CodecOptions& options, std::size_t d, std::size_t messages);
MadeCodec make_top_k(const CodecOptions& options, std::size_t d, std::size_t messages);
MadeCodec make_threshold(const CodecOptions& options, std::size_t d, std::size_t messages);
MadeCodec make_rand_k(const CodecOptions& options, std::size_t d, std::size_t messages);

}  // namespace ticopd::cuda
