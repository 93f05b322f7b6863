// The examples of docs/wire_format.md, byte by byte. If one changes, the format needs a new
// version.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "places.hpp"
#include "rows.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::testing {
namespace {

const MessageId message{1, 2, 3, 0};  // seed, round, agent, channel
const std::vector<float> v{1, -2, 0.5f, 0, -0.25f};
const std::vector<float> w{1, -2, 0.5f, 2, -1};

// A row with few non-zero coordinates.
const std::vector<float> z = [] {
  std::vector<float> row(70);
  for (std::size_t k = 0; k < row.size(); k += 10) row[k] = k % 20 == 0 ? 1 : -1.5f;
  return row;
}();

std::string payload(const CodecOptions& o, const std::vector<float>& row) {
  return hex(encoded(*make_codec<float>(o), row, message));
}

std::vector<float> q_of(const CodecOptions& o) {
  const auto codec = make_codec<float>(o);
  return decoded(*codec, encoded(*codec, v, message), message, v.size());
}

std::vector<float> q_of_v(bool scaled) {
  return q_of(qsgd(8, scaled));
}

Bytes frame() {
  FrameHeader header;
  header.channel = 0;
  header.round = 2;
  header.agent = 3;
  header.d = 5;
  const std::vector<float> h = q_of_v(true);  // the surrogate started at zero
  header.surrogate = hash_row(std::as_bytes(std::span(h)));
  return make_frame(header, encoded(*make_codec<float>(qsgd(8)), v, message));
}

const std::map<std::string, std::string> golden{
    {"identity v", "0000803f000000c00000003f00000000000080be"},
    {"qsgd-8 v", "418313406fdd37001c12"},
    {"qsgd-8 v decoded", "b769803f46abffbf1d83fe3e00000000e09181be"},
    {"qsgd-8 v decoded unscaled", "3e6c803f4eb0ffbf1f88fe3e000000006d9481be"},
    {"qsgd-5 v", "418313406d1f400012"},
    {"qsgd-4 bucket-3 v", "76a412400000803ed7030f12"},
    {"qsgd-8 1e-40v", "828202006fdd37001c12"},
    {"qsgd-8 entropy v", "41831340006fdd37001c12"},
    {"qsgd-8 elias v", "41831340b43dfb2eea2ecb01"},
    {"qsgd-3 entropy z", "89d65140011e330b913a5a3ca402f0a0081446b2dc722a"},
    {"qsgd-3 elias z", "89d65140e47217b9dc452e77910b"},
    {"qsgd-11 entropy z", "89d65140011e33034c40a4665a3ca402f0a0081446b2dc72e029780a9e8201"},
    {"top_k-3 w", "0000803f000000c000000040c800"},
    {"rand_k-2 w", "0000803f0000003f"},
    {"sign v", "0000403f12"},
    {"infinity-4 v", "0000004084020112"},
    {"infinity-4 bucket-3 entropy v", "000000400000803e0084020812"},
    {"top_k-3 entropy w", "0000803f000000c0000000400004"},
    {"top_k-3 qsgd-4 w", "c80000004040a50a02"},
    {"rand_k-2 natural w", "7f7e00"},
    {"threshold-0.5 w", "040000803f000000c000000040000080bfc808"},
    {"threshold-0.5 sign w", "04c8080000c03f0a"},
    {"sign bucket-3 v", "5555953f0000003e12"},
    {"norm_sign v", "0000803f12"},
    {"natural 1.3v", "7f817e007d12"},
    {"natural elias 1.3v", "814c145901"},
    {"random_gossip-0.1 v", "0000803f000000c00000003f00000000000080be"},
    {"adaptive v", "30a917"},
    {"adaptive v decoded", "3d805a3f270b2ec08b6ed83e000000007bf023be"},
    {"grid-3 v", "8739"},
    {"grid-3 v decoded", "0000603f000060bf0000203f0000003e000000be"},
    {"grid-3 elias v", "14160c02"},
    {"frame",
     "5469436f010100000200000000000000030000000400000005000000000000000a0000000000000076359c2277360"
     "5920f92e586418d88bd418313406fdd37001c12"},
};

std::map<std::string, std::string> made() {
  std::vector<float> tiny = v;
  for (float& x : tiny) x = static_cast<float>(static_cast<double>(x) * 1e-40);
  std::vector<float> more = v;
  for (float& x : more) x = static_cast<float>(static_cast<double>(x) * 1.3);
  const std::vector<float> scaled = q_of_v(true), unscaled = q_of_v(false);
  const std::vector<float> points = q_of(adaptive(0.25, 0.0625)), cells = q_of(grid(3, 2, 0.5));
  return {
      {"identity v", payload(options("identity"), v)},
      {"qsgd-8 v", payload(qsgd(8), v)},
      {"qsgd-8 v decoded", hex(std::as_bytes(std::span(scaled)))},
      {"qsgd-8 v decoded unscaled", hex(std::as_bytes(std::span(unscaled)))},
      {"qsgd-5 v", payload(qsgd(5), v)},
      {"qsgd-4 bucket-3 v", payload(qsgd(4, true, 3), v)},
      {"qsgd-8 1e-40v", payload(qsgd(8), tiny)},
      {"qsgd-8 entropy v", payload(coded(qsgd(8), Coding::entropy), v)},
      {"qsgd-8 elias v", payload(coded(qsgd(8), Coding::elias), v)},
      {"qsgd-3 entropy z", payload(coded(qsgd(3), Coding::entropy), z)},
      {"qsgd-3 elias z", payload(coded(qsgd(3), Coding::elias), z)},
      {"qsgd-11 entropy z", payload(coded(qsgd(11), Coding::entropy), z)},
      {"top_k-3 w", payload(keep("top_k", 3), w)},
      {"rand_k-2 w", payload(keep("rand_k", 2), w)},
      {"sign v", payload(options("sign"), v)},
      {"infinity-4 v", payload(infinity(4), v)},
      {"infinity-4 bucket-3 entropy v", payload(coded(infinity(4, 3), Coding::entropy), v)},
      {"top_k-3 entropy w", payload(coded(keep("top_k", 3), Coding::entropy), w)},
      {"top_k-3 qsgd-4 w", payload(followed(keep("top_k", 3), "qsgd", 4), w)},
      {"rand_k-2 natural w", payload(followed(keep("rand_k", 2), "natural"), w)},
      {"threshold-0.5 w", payload(threshold(0.5), w)},
      {"threshold-0.5 sign w", payload(followed(threshold(0.5), "sign"), w)},
      {"sign bucket-3 v", payload(bucketed("sign", 3), v)},
      {"norm_sign v", payload(options("norm_sign"), v)},
      {"natural 1.3v", payload(options("natural"), more)},
      {"natural elias 1.3v", payload(coded(options("natural"), Coding::elias), more)},
      {"random_gossip-0.1 v", payload(gossip(0.1), v)},
      {"adaptive v", payload(adaptive(0.25, 0.0625), v)},
      {"adaptive v decoded", hex(std::as_bytes(std::span(points)))},
      {"grid-3 v", payload(grid(3, 2, 0.5), v)},
      {"grid-3 v decoded", hex(std::as_bytes(std::span(cells)))},
      {"grid-3 elias v", payload(coded(grid(3, 2, 0.5), Coding::elias), v)},
      {"frame", hex(frame())},
  };
}

TEST(Golden, BytesEqualThoseOfTheFirstVersion) {
  EXPECT_EQ(made(), golden);
}

// Coordinates of many sizes. No function of libm makes them, since its bits differ between
// machines.
template <class T>
std::vector<T> exact_row(std::size_t d) {
  const Noise noise{41, static_cast<std::uint32_t>(d), 0, stream_synthetic};
  std::vector<T> row(d);
  for (std::size_t k = 0; k < d; ++k) {
    const std::uint32_t bits = noise.block(static_cast<std::uint32_t>(k))[0];
    row[k] = static_cast<T>(std::ldexp(static_cast<double>(bits >> 8) * 0x1p-24 - 0.5,
                                       static_cast<int>(bits % 24) - 12));
  }
  return row;
}

// One hash per kind of codec, over the payloads and decoded rows of all its options at some
// lengths.
template <class T>
std::map<std::string, std::string> hashes() {
  std::map<std::string, Bytes> all;
  for (const CodecOptions& o : every_codec()) {
    const auto codec = make_codec<T>(o);
    for (const std::size_t d : {1, 70, 1000}) {
      const MessageId id{7, static_cast<std::uint32_t>(d), 3, 1};
      const Bytes payload = encoded(*codec, exact_row<T>(d), id);
      const std::vector<T> q = decoded(*codec, payload, id, d);
      Bytes& bytes = all[o.kind];
      bytes.insert(bytes.end(), payload.begin(), payload.end());
      const auto decoded_bytes = std::as_bytes(std::span(q));
      bytes.insert(bytes.end(), decoded_bytes.begin(), decoded_bytes.end());
    }
  }
  std::map<std::string, std::string> hex_of;
  for (const auto& [kind, bytes] : all) {
    std::ostringstream text;
    text << std::hex << hash_row(bytes);
    hex_of[kind] = text.str();
  }
  return hex_of;
}

using Hashes = std::map<std::string, std::string>;

TEST(Golden, FloatPayloadsOfEveryOptionEqualThoseOfVersion01) {
  EXPECT_EQ(hashes<float>(), (Hashes{{"adaptive", "bb4b36fd488aae56"},
                                     {"grid", "186f8169e2384575"},
                                     {"identity", "cfd236bbb82b0ec3"},
                                     {"infinity", "210bad3109f1726b"},
                                     {"natural", "d46808bcc00d5d23"},
                                     {"norm_sign", "23b8d9df701a5774"},
                                     {"qsgd", "1aa814a165122713"},
                                     {"rand_k", "723618da963ff816"},
                                     {"random_gossip", "599e49cd0291edd2"},
                                     {"sign", "15044fd5b829561b"},
                                     {"threshold", "d6f949ad794a4978"},
                                     {"top_k", "74ce5a452dcf82d"}}));
}

TEST(Golden, DoublePayloadsOfEveryOptionEqualThoseOfVersion01) {
  EXPECT_EQ(hashes<double>(), (Hashes{{"adaptive", "fdc8b78347afe97a"},
                                      {"grid", "2ee6c04379f85b4c"},
                                      {"identity", "38fd61d64a9c0c78"},
                                      {"infinity", "5681dbaa85af37d3"},
                                      {"natural", "e70de6659885e6aa"},
                                      {"norm_sign", "3c1b386fc02954a1"},
                                      {"qsgd", "11835579b3c2f2f3"},
                                      {"rand_k", "fce48c40bb60d018"},
                                      {"random_gossip", "110aa3883b5d4da5"},
                                      {"sign", "14548fb794892d86"},
                                      {"threshold", "2dd3c0d9d31733b6"},
                                      {"top_k", "35ca4d6e88698527"}}));
}

// Reads the lines `name = hex` of the fenced block marked golden.
TEST(Golden, BytesEqualThoseInTheFormatDocument) {
  std::ifstream file(places::tree() + "/docs/wire_format.md");
  ASSERT_TRUE(file) << "docs/wire_format.md";
  std::map<std::string, std::string> written;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("```", 0) == 0) inside = line == "```golden";
    const std::size_t at = line.find(" = ");
    if (inside && at != std::string::npos) written[line.substr(0, at)] = line.substr(at + 3);
  }
  EXPECT_EQ(written, golden);
}

}  // namespace
}  // namespace ticopd::testing
