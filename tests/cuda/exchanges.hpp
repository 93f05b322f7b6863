#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "codecs/rows.hpp"
#include "cuda/device.hpp"
#include "ticopd/cuda/codecs/device_codec.hpp"
#include "ticopd/numeric/sum.hpp"

// Exchanges on the device, and the same exchanges done by the rules of CpuMirror.
namespace ticopd::cuda {

using ticopd::testing::random_row;

inline constexpr std::uint64_t seed = 0x123456789abcull;
inline constexpr std::uint32_t channel = 3;
inline constexpr float unset = -77.0f;
using Row = std::vector<float>;

struct Setting {
  bool raw = false;
  float gain = 1;
  ChannelNoise noise = {};
  std::vector<std::uint8_t> skipped = {};  // none
  double flag = 0;
  bool squares = false;  // the sums of squares of v - h are given
};

struct MirrorState {
  std::vector<Row> h, estimate, sent;  // by slot
  std::vector<Counters> counters;
};

// Rows of very different kinds, one message each.
inline std::vector<Row> kinds_of_rows(std::size_t d) {
  std::vector<Row> rows(7, Row(d));
  rows[0] = random_row<float>(d);
  rows[1] = random_row<float>(d, 1);
  for (std::size_t k = 0; k < d; ++k) {
    if (k % 17 != 3) rows[1][k] = 0;  // sparse
    rows[2][k] = k % 3 == 0 ? -1.5f : 1.5f;
    rows[3][k] = 1e-30f * rows[0][k];
    rows[4][k] = 1e30f * rows[0][d - 1 - k];
    rows[5][k] = k % 2 == 0 ? -0.0f : 0.0f;
    rows[6][k] = 1e-3f * rows[0][k];
  }
  return rows;
}

// Applies one message as CpuMirror does (network/mirror.cpp).
inline void apply_on_host(const CodecOptions& how, const Setting& s, std::uint32_t round,
                          const Row& v, std::uint32_t agent, bool skipped, std::size_t slot,
                          MirrorState& state, Bytes& payload) {
  const auto codec = make_codec<float>(how);
  const std::size_t d = v.size();
  const MessageId name{seed, round, agent, channel};
  Row &h = state.h[slot], &estimate = state.estimate[slot], &sent = state.sent[slot];
  Counters& counters = state.counters[slot];
  ++counters.messages;
  payload.clear();
  if (skipped) {
    estimate = h;
    std::fill(sent.begin(), sent.end(), 0.0f);
    counters.paper_bits += s.flag;
    return;
  }
  const bool difference = !s.raw && !codec->lossless(), whole = !difference;
  Row x = v, q(d);
  for (std::size_t k = 0; difference && k < d; ++k) x[k] = v[k] - h[k];
  counters.saturated += codec->saturated(Source<float>(std::span<const float>(x)), name);
  ASSERT_TRUE(codec->encode(x, name, payload));
  ASSERT_TRUE(codec->decode(payload, name, q));
  counters.bytes += payload.size();
  counters.paper_bits += s.flag + codec->paper_bits_of(payload, d);
  if (s.noise.any() && codec->travels(name)) s.noise.add(name, 0, std::span<float>(q));
  for (std::size_t k = 0; k < d; ++k) {
    sent[k] = whole && !s.raw ? q[k] - h[k] : q[k];
    estimate[k] = whole ? q[k] : h[k] + q[k];
    h[k] = !whole ? h[k] + s.gain * q[k] : s.gain == 1 ? q[k] : h[k] + s.gain * (q[k] - h[k]);
  }
}

struct DeviceRows {
  explicit DeviceRows(const std::vector<Row>& rows)
      : stride((rows[0].size() + 127) / 128 * 128), memory(rows.size() * stride) {
    Row all(memory.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy(rows[i].begin(), rows[i].end(), all.begin() + i * stride);
    memory.upload(all);
  }
  Rows view() { return {memory.data(), stride}; }
  std::vector<Row> download(std::size_t rows, std::size_t d) const {
    const Row all = memory.download();
    std::vector<Row> to(rows);
    for (std::size_t i = 0; i < rows; ++i)
      to[i].assign(all.begin() + i * stride, all.begin() + i * stride + d);
    return to;
  }
  std::size_t stride;
  Buffer<float> memory;
};

inline bool same_bits(const Row& a, const Row& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

inline std::string name_of(const CodecOptions& o, std::size_t d, const Setting& s) {
  return o.kind + " then=" + o.then + " bits=" + std::to_string(o.bits) +
         " bucket=" + std::to_string(o.bucket) +
         " coding=" + std::to_string(static_cast<int>(o.coding)) + " d=" + std::to_string(d) +
         (s.raw ? " raw" : "") + " gain=" + std::to_string(s.gain);
}

// Messages go from row i to slot i + 1, last row first: so a mixed-up index cannot go unnoticed.
struct OnDevice {
  OnDevice(const std::vector<Row>& v, const MirrorState& from, const Setting& s)
      : rows(v),
        h(from.h),
        estimate(from.estimate),
        sent(from.sent),
        counters(from.counters),
        trouble(1),
        skipped(s.skipped) {
    std::vector<Message> all;
    for (auto i = static_cast<std::uint32_t>(v.size()); i-- > 0;)
      all.push_back({i, i + 1, agent_of(i), channel});
    messages = Buffer<Message>(all);
    e.v = rows.view(), e.h = h.view(), e.estimate = estimate.view(), e.sent = sent.view();
    e.messages = messages.data();
    e.skipped = s.skipped.empty() ? nullptr : skipped.data();
    e.counters = counters.data();
    e.trouble = trouble.data();
    e.seed = seed;
    e.d = v[0].size();
    e.noise_scale = s.noise.scale;
    e.count = static_cast<std::uint32_t>(v.size());
    e.gain = s.gain;
    e.raw = s.raw;
    e.noise_kind = static_cast<std::uint32_t>(s.noise.kind);
    e.flag_bits = s.flag;
  }
  static std::uint32_t agent_of(std::size_t row) { return 40 + static_cast<std::uint32_t>(row); }

  DeviceRows rows, h, estimate, sent;
  Buffer<Counters> counters;
  Buffer<Trouble> trouble;
  Buffer<std::uint8_t> skipped;
  Buffer<Message> messages;
  Exchange e{};
};

inline MirrorState start_of(const std::vector<Row>& rows) {
  const std::size_t d = rows[0].size(), slots = rows.size() + 1;
  MirrorState state{.h = std::vector<Row>(slots, Row(d)),
                    .estimate = std::vector<Row>(slots, Row(d, unset)),
                    .sent = std::vector<Row>(slots, Row(d, unset)),
                    .counters = std::vector<Counters>(slots)};
  for (std::size_t i = 1; i < slots; i += 2) state.h[i] = random_row<float>(d, 9);
  return state;
}

// v = row + h, so that v - h is the row up to rounding, and exactly the row where h is zero.
inline std::vector<Row> shifted(std::vector<Row> rows, const MirrorState& state) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t k = 0; k < rows[i].size(); ++k) rows[i][k] += state.h[i + 1][k];
  return rows;
}

// Per row, the sums of (v - h)^2 over blocks of 128 coordinates.
inline std::vector<double> squares_of(const std::vector<Row>& v, const MirrorState& state) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t first = 0; first < v[i].size(); first += sum_block) {
      Row part;
      for (std::size_t k = first; k < std::min(v[i].size(), first + sum_block); ++k)
        part.push_back(v[i][k] - state.h[i + 1][k]);
      sums.push_back(sum_of_squares<float>(part));
    }
  return sums;
}

// Compares two consecutive exchanges on the device with those on the host.
inline void compare(const CodecOptions& how, std::size_t d, const Setting& s,
                    std::size_t messages = 7) {
  SCOPED_TRACE(name_of(how, d, s));
  std::vector<Row> rows = kinds_of_rows(d);
  rows.resize(messages);
  MirrorState host = start_of(rows);
  const std::vector<Row> v = shifted(rows, host);
  OnDevice device(v, host, s);
  Queue queue;
  const auto codec = make_device_codec(how, d, v.size());
  ASSERT_TRUE(codec);
  std::vector<Bytes> payloads(v.size());
  for (const std::uint32_t round : {7u, 8u}) {
    Buffer<double> squares(s.squares ? squares_of(v, host) : std::vector<double>());
    device.e.squares = squares.data();
    device.e.squares_stride = (d + sum_block - 1) / sum_block;
    queue.begin_round(round);
    codec->exchange(queue, device.e);
    for (std::size_t m = 0; m < v.size(); ++m) {
      const std::size_t i = v.size() - 1 - m;
      apply_on_host(how, s, round, v[i], OnDevice::agent_of(i),
                    !s.skipped.empty() && s.skipped[m] != 0, i + 1, host, payloads[m]);
    }
    queue.finish();
    for (std::size_t m = 0; m < v.size(); ++m) {
      const bool skipped = !s.skipped.empty() && s.skipped[m] != 0;
      const Bytes made = skipped ? Bytes() : codec->payload(m);
      if (how.coding == Coding::fixed)
        EXPECT_EQ(made, payloads[m]) << "message " << m << ", round " << round;
    }
  }
  ASSERT_EQ(device.trouble.download()[0].any, 0u);
  const auto h = device.h.download(v.size() + 1, d);
  const auto estimate = device.estimate.download(v.size() + 1, d);
  const auto sent = device.sent.download(v.size() + 1, d);
  const auto counters = device.counters.download();
  for (std::size_t slot = 0; slot <= v.size(); ++slot) {
    EXPECT_TRUE(same_bits(h[slot], host.h[slot])) << "h, slot " << slot;
    EXPECT_TRUE(same_bits(estimate[slot], host.estimate[slot])) << "estimate, slot " << slot;
    EXPECT_TRUE(same_bits(sent[slot], host.sent[slot])) << "sent, slot " << slot;
    EXPECT_EQ(counters[slot].messages, host.counters[slot].messages) << "slot " << slot;
    EXPECT_EQ(counters[slot].bytes, host.counters[slot].bytes) << "slot " << slot;
    EXPECT_EQ(counters[slot].paper_bits, host.counters[slot].paper_bits) << "slot " << slot;
    EXPECT_EQ(counters[slot].saturated, host.counters[slot].saturated) << "slot " << slot;
  }
}

inline constexpr std::size_t dimensions[] = {1, 63, 128, 129, 1000, 5003};

inline void compare_all(const std::vector<CodecOptions>& codecs) {
  for (const CodecOptions& how : codecs) {
    if (briefly()) {
      compare(how, 129, {});
      continue;
    }
    for (const std::size_t d : dimensions) compare(how, d, {});
    compare(how, 129, {.raw = true});
    compare(how, 1000, {.gain = 0.3f});
    compare(how, 131, {.noise = {ChannelNoise::Kind::uniform, 0.01}});
    compare(how, 1000, {.skipped = {0, 1, 0, 0, 1, 1, 0}, .flag = 1});
  }
}

}  // namespace ticopd::cuda
