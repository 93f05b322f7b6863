// The receiving side: rank 0 of two ranks with one agent each receives the input as a frame from
// the other rank (mirror_input.hpp). A frame is rejected with a FormatError, or moves the ghost row
// to the row whose hash is in the frame. A right frame must be accepted.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/choose_codec.hpp"
#include "fuzz/mirror_input.hpp"
#include "ticopd/network/cpu.hpp"
#include "ticopd/transport/frame.hpp"

namespace {

using namespace ticopd;

constexpr std::uint32_t round_now = 3;
constexpr std::uint16_t channel = 1;
constexpr std::uint64_t seed = 1;

class Flat final : public Objective<float> {
 public:
  explicit Flat(std::size_t d) : d_(d) {}
  int agents() const override { return 2; }
  std::size_t dimension() const override { return d_; }
  double value(int, std::span<const float>) const override { return 0; }
  void gradient(int, std::span<const float>, std::span<float> g) const override {
    std::ranges::fill(g, 0.0f);
  }

 private:
  std::size_t d_;
};

// The transport of rank 0 of two ranks. Every receive returns the same frame.
class Answer final : public Transport {
 public:
  explicit Answer(Bytes frame) : frame_(std::move(frame)) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void abandon(int, const std::string&) override {}

 protected:
  void do_send(int, std::uint32_t, Bytes) override {}
  Arrival do_receive(int, std::uint32_t, std::size_t) override { return {frame_, 0}; }

 private:
  Bytes frame_;
};

struct Exchange {
  const Codec<float>& codec;
  std::size_t d;
  bool raw;
  float gain;

  float start(std::size_t k) const { return 0.25f * static_cast<float>(k % 5); }

  // The sender's row after it sent `body`, by the formula of Mirror; empty if the body is invalid.
  std::optional<std::vector<float>> surrogate(std::span<const std::byte> body) const {
    std::vector<float> q(d);
    if (!codec.decode(body, MessageId{seed, round_now, 1, channel}, q)) return std::nullopt;
    for (std::size_t k = 0; k < d; ++k) {
      const float h = start(k);
      if (raw || (codec.lossless() && gain == 1)) continue;
      q[k] = codec.lossless() ? h + gain * (q[k] - h) : h + gain * q[k];
    }
    return q;
  }

  FrameHeader header(std::span<const std::byte> body) const {
    FrameHeader h;
    h.type = raw ? FrameType::raw : FrameType::difference;
    h.channel = channel;
    h.round = round_now;
    h.agent = 1;
    h.d = d;
    if (const auto row = surrogate(body)) h.surrogate = hash_row(std::as_bytes(std::span(*row)));
    return h;
  }
};

// XORs `by` into the fields of the header in wire order, except the length of the body.
FrameHeader xored(FrameHeader h, std::span<const std::byte> by) {
  std::size_t at = 0;
  const auto change = [&](auto& field) {
    auto* bytes = reinterpret_cast<std::byte*>(&field);
    for (std::size_t i = 0; i < sizeof field; ++i) bytes[i] ^= by[at++];
  };
  change(h.type);
  change(h.channel);
  change(h.round);
  change(h.agent);
  change(h.scalar_bytes);
  change(h.d);
  change(h.surrogate);
  if (at != mirror_header_bytes) std::abort();
  return h;
}

// True if the frame was accepted.
bool taken(const Exchange& e, const Bytes& frame) {
  static const Graph graph = complete(2);
  static Pool pool(1);
  const Flat objective(e.d);
  Answer answer(frame);
  CpuNetwork<float> net({.graph = graph,
                         .objective = objective,
                         .codec = e.codec,
                         .transport = answer,
                         .pool = pool,
                         .seed = seed});
  CpuMirror<float> mirror(net, net.laplacian(), channel);
  Field<float> v = net.field();
  for (std::size_t k = 0; k < e.d; ++k) v.row(0)[k] = e.start(k);
  mirror.start_at_common(v);
  for (float& x : v.row(0)) x += 1.0f;
  net.begin_round(round_now);
  if (e.raw)
    mirror.send_raw(v);
  else
    mirror.send(v, e.gain);
  try {
    mirror.receive();
  } catch (const FormatError&) {
    return false;
  }
  FrameHeader header;
  std::span<const std::byte> body;
  if (!parse_frame(frame, header, body)) std::abort();
  if (hash_row(std::as_bytes(mirror.own().row(1))) != header.surrogate) std::abort();
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < mirror_input_bytes) return 0;
  const auto codec = make_codec<float>(choose_codec(data[0] & 63, data[1]));
  const bool raw = (data[0] & mirror_sends_raw) != 0;
  const Exchange e{*codec, mirror_dimensions[data[2] % mirror_dimensions.size()], raw,
                   raw || (data[0] & mirror_half_gain) == 0 ? 1.0f : 0.5f};
  auto body = std::as_bytes(std::span(data, size)).subspan(mirror_input_bytes);
  const auto how = static_cast<MirrorInput>(data[3] & 3);
  if (how == whole_frame) {
    taken(e, Bytes(body.begin(), body.end()));
    return 0;
  }
  std::span<const std::byte> by;
  if (how == other_header) {
    if (body.size() < mirror_header_bytes) return 0;
    by = body.first(mirror_header_bytes);
    body = body.subspan(mirror_header_bytes);
  }
  const FrameHeader right = e.header(body);
  FrameHeader sent = how == other_header ? xored(right, by) : right;
  if (how == other_hash) sent.surrogate ^= std::uint64_t{1} << data[3] / 4;
  const bool must_be_taken = sent == right && e.surrogate(body).has_value();
  if (taken(e, make_frame(sent, body)) != must_be_taken) std::abort();
  return 0;
}
