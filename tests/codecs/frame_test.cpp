#include "ticopd/transport/frame.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>

#include "rows.hpp"

namespace ticopd::testing {
namespace {

FrameHeader some_header() {
  FrameHeader h;
  h.type = FrameType::raw;
  h.channel = 0x0102;
  h.round = 0x030405060708090aull;
  h.agent = 0x0b0c0d0e;
  h.scalar_bytes = 8;
  h.d = 0x0f10111213141516ull;
  h.surrogate = 0x1718191a1b1c1d1eull;
  return h;
}

Bytes some_body(std::size_t size) {
  Generator random(Noise{1, static_cast<std::uint32_t>(size), 0, stream_synthetic});
  return random_bytes(size, random);
}

bool accepted(std::span<const std::byte> bytes) {
  FrameHeader header;
  std::span<const std::byte> body;
  return parse_frame(bytes, header, body);
}

// Changes a field and recomputes the checksum, like a faulty sender.
bool accepted_with(std::size_t at, unsigned value) {
  Bytes frame = make_frame(some_header(), some_body(10));
  frame[at] = static_cast<std::byte>(value);
  Bytes hashed(frame.begin(), frame.begin() + 48);
  hashed.insert(hashed.end(), frame.begin() + 56, frame.end());
  const std::uint64_t sum = XXH3_64bits(hashed.data(), hashed.size());
  std::memcpy(frame.data() + 48, &sum, 8);
  return accepted(frame);
}

TEST(Frame, ReturnsItsHeaderAndBody) {
  for (const FrameType type : {FrameType::difference, FrameType::raw, FrameType::skip})
    for (const std::size_t size : {0, 1, 55, 56, 240, 241, 5000}) {
      FrameHeader sent = some_header();
      sent.type = type;
      const Bytes body = some_body(size);
      const Bytes frame = make_frame(sent, body);
      ASSERT_EQ(frame.size(), frame_header_bytes + size);
      FrameHeader got;
      std::span<const std::byte> got_body;
      ASSERT_TRUE(parse_frame(frame, got, got_body));
      sent.body_bytes = size;
      EXPECT_EQ(got, sent);
      EXPECT_EQ(got_body.data(), frame.data() + frame_header_bytes) << "a view, not a copy";
      EXPECT_EQ(Bytes(got_body.begin(), got_body.end()), body);
    }
}

TEST(Frame, RejectsEveryTruncation) {
  for (const std::size_t size : {0, 3, 300}) {
    const Bytes frame = make_frame(some_header(), some_body(size));
    for (std::size_t length = 0; length < frame.size(); ++length)
      ASSERT_FALSE(accepted(std::span(frame).first(length))) << length << " of " << frame.size();
    for (std::size_t from = 1; from <= frame.size(); ++from)
      ASSERT_FALSE(accepted(std::span(frame).subspan(from)));
  }
}

TEST(Frame, RejectsEveryBitFlip) {
  for (const std::size_t size : {0, 1, 17, 300}) {
    Bytes frame = make_frame(some_header(), some_body(size));
    for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      const auto mask = static_cast<std::byte>(1u << bit % 8);
      frame[bit / 8] ^= mask;
      ASSERT_FALSE(accepted(frame)) << "bit " << bit;
      frame[bit / 8] ^= mask;
    }
    ASSERT_TRUE(accepted(frame));
  }
}

TEST(Frame, RejectsAppendedBytes) {
  Bytes frame = make_frame(some_header(), some_body(9));
  for (int extra = 0; extra < 70; ++extra) {
    frame.push_back(std::byte{0});
    ASSERT_FALSE(accepted(frame));
  }
}

TEST(Frame, RejectsUnknownTypesVersionsAndScalarsWithAValidChecksum) {
  EXPECT_TRUE(accepted_with(5, 1)) << "the repaired checksum is good";
  for (const unsigned type : {0, 4, 255}) EXPECT_FALSE(accepted_with(5, type)) << "type " << type;
  for (const unsigned version : {0, 2}) EXPECT_FALSE(accepted_with(4, version));
  EXPECT_FALSE(accepted_with(0, 't')) << "magic";
  EXPECT_TRUE(accepted_with(20, 4));
  for (const unsigned scalar : {0, 2, 5, 16}) EXPECT_FALSE(accepted_with(20, scalar));
  for (const unsigned length : {9, 11}) EXPECT_FALSE(accepted_with(32, length));
  EXPECT_FALSE(accepted_with(39, 0x80)) << "a body of 2^63 bytes";
}

TEST(Frame, LeavesItsOutputsUnchangedOnRejection) {
  FrameHeader header = some_header();
  std::span<const std::byte> body;
  EXPECT_FALSE(parse_frame(Bytes(200), header, body));
  EXPECT_EQ(header, some_header());
  EXPECT_TRUE(body.empty());
}

TEST(Frame, HashesARowByXxh3) {
  EXPECT_EQ(hash_row({}), 0x2d06800538d394c2ull) << "XXH3-64 of nothing, as its authors give it";
  const std::vector<float> row = random_row<float>(100);
  std::vector<float> other = row;
  EXPECT_EQ(hash_row(std::as_bytes(std::span(row))), hash_row(std::as_bytes(std::span(other))));
  other[50] = std::nextafter(other[50], 9.0f);
  EXPECT_NE(hash_row(std::as_bytes(std::span(row))), hash_row(std::as_bytes(std::span(other))));
}

}  // namespace
}  // namespace ticopd::testing
