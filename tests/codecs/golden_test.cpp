// The examples of docs/wire_format.md, byte by byte. A change here is a new version of the format.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "rows.hpp"
#include "ticopd/transport/frame.hpp"

namespace ticopd::testing {
namespace {

const Noise message{1, 2, 3, 0};  // seed, round, agent, channel
const std::vector<float> v{1, -2, 0.5f, 0, -0.25f};
const std::vector<float> w{1, -2, 0.5f, 2, -1};

std::string payload(const CodecOptions& o, const std::vector<float>& row) {
  return hex(encoded(*make_codec<float>(o), row, message));
}

std::vector<float> q_of_v(bool scaled) {
  const auto codec = make_codec<float>(qsgd(8, scaled));
  return decoded(*codec, encoded(*codec, v, message), message, v.size());
}

Bytes frame() {
  FrameHeader header;
  header.channel = 0;
  header.round = 2;
  header.agent = 3;
  header.d = 5;
  const std::vector<float> h = q_of_v(true);  // it started at zero
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
    {"top_k-3 w", "0000803f000000c000000040c800"},
    {"rand_k-2 w", "000000400000803f"},
    {"sign v", "0000403f12"},
    {"frame",
     "5469436f010100000200000000000000030000000400000005000000000000000a0000000000000076359c2277360"
     "5920f92e586418d88bd418313406fdd37001c12"},
};

std::map<std::string, std::string> made() {
  std::vector<float> tiny = v;
  for (float& x : tiny) x = static_cast<float>(static_cast<double>(x) * 1e-40);
  const std::vector<float> scaled = q_of_v(true), unscaled = q_of_v(false);
  return {
      {"identity v", payload(options("identity"), v)},
      {"qsgd-8 v", payload(qsgd(8), v)},
      {"qsgd-8 v decoded", hex(std::as_bytes(std::span(scaled)))},
      {"qsgd-8 v decoded unscaled", hex(std::as_bytes(std::span(unscaled)))},
      {"qsgd-5 v", payload(qsgd(5), v)},
      {"qsgd-4 bucket-3 v", payload(qsgd(4, true, 3), v)},
      {"qsgd-8 1e-40v", payload(qsgd(8), tiny)},
      {"top_k-3 w", payload(keep("top_k", 3), w)},
      {"rand_k-2 w", payload(keep("rand_k", 2), w)},
      {"sign v", payload(options("sign"), v)},
      {"frame", hex(frame())},
  };
}

TEST(Golden, BytesAreThoseOfTheFirstVersion) {
  EXPECT_EQ(made(), golden);
}

// Lines `name = hex` inside the fenced block marked golden.
TEST(Golden, BytesAreThoseOfTheWrittenFormat) {
  std::ifstream file(TICOPD_SOURCE_DIR "/docs/wire_format.md");
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
