// Entropy-coded and Elias-coded qsgd compared with the entropy of its symbols: the length of the
// messages, and the speed of encoding and decoding on one thread, including quantisation.
//
//   bench_entropy [--dimension 79510] [--table]
//
// Rows are Gaussian, or heavy-tailed (a Gaussian times the exponential of twice another). The first
// line has the lengths. `encode INPUT CODING BITS` and `decode ...` are timed on request; --table
// times all of them and prints a table. All codings must decode to the numbers of the fixed one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/ask.hpp"
#include "ticopd/codecs/bit_stream.hpp"
#include "ticopd/codecs/levels.hpp"

namespace {

using namespace ticopd;
using namespace ticopd::bench;

constexpr int all_bits[] = {2, 4, 6, 8};
const std::map<std::string, Coding> codings{
    {"fixed", Coding::fixed}, {"entropy", Coding::entropy}, {"elias", Coding::elias}};

std::vector<float> drawn(const std::string& input, std::size_t d) {
  Generator random(Noise{1, 0, 0, stream_synthetic});
  std::vector<float> row(d);
  for (float& x : row) {
    const double size = input == "gaussian" ? 1.0 : std::exp(2.0 * random.normal());
    x = static_cast<float>(size * random.normal());
  }
  return row;
}

// One row with one codec.
class Coded {
 public:
  Coded(const std::vector<float>& row, int bits, Coding coding)
      : codec_(make_codec<float>({.kind = "qsgd", .bits = bits, .coding = coding})),
        row_(row),
        q_(row.size()) {
    encode();
    decode();
  }
  void encode() { require(codec_->encode(row_, message_, payload_), "qsgd refuses a row"); }
  void decode() { require(codec_->decode(payload_, message_, q_), "qsgd refuses its payload"); }

  const Bytes& payload() const { return payload_; }
  const std::vector<float>& decoded() const { return q_; }

 private:
  std::unique_ptr<Codec<float>> codec_;
  const std::vector<float>& row_;
  const MessageId message_{1, 2, 3, 0};
  Bytes payload_;
  std::vector<float> q_;
};

// The entropy of the symbols in a payload of the fixed coding, in bits per coordinate.
double entropy_of(const Bytes& payload, int bits, std::size_t d) {
  const auto width = static_cast<unsigned>(bits);
  std::vector<std::uint8_t> levels(d);
  const auto planes = std::span(payload).subspan(sizeof(float));
  unpack_fields<std::uint8_t>(planes.first(plane_bytes(d, width)), width, levels);
  return symbol_entropy_bits<std::uint8_t>(levels, planes.subspan(plane_bytes(d, width))) /
         static_cast<double>(d);
}

class Bench {
 public:
  explicit Bench(std::size_t d) : d_(d) {
    for (const std::string input : {"gaussian", "heavy"}) {
      const std::vector<float>& row = rows_[input] = drawn(input, d);
      for (const int bits : all_bits) {
        const Coded fixed(row, bits, Coding::fixed);
        const double entropy = entropy_of(fixed.payload(), bits, d);
        for (const auto& [word, coding] : codings) {
          const std::string name = input + " " + word + " " + std::to_string(bits);
          Coded& coded = cases_.try_emplace(name, row, bits, coding).first->second;
          require(coded.decoded() == fixed.decoded(), name + " decodes to other numbers");
          about_[name] = {
              {"entropy", entropy},
              {"sent", 8.0 * static_cast<double>(coded.payload().size()) / static_cast<double>(d)}};
          actions_["encode " + name] = [&coded] { coded.encode(); };
          actions_["decode " + name] = [&coded] { coded.decode(); };
        }
      }
    }
  }

  void answer_all() {
    say({{"row_bytes", d_ * sizeof(float)}, {"cases", about_}});
    answer(actions_);
    say({{"cases", cases_.size()}});
  }

  void table() {
    std::printf("%-18s %9s %9s %8s %12s %12s\n", "bits per coordinate", "entropy", "sent", "ratio",
                "encode MB/s", "decode MB/s");
    for (const auto& [name, about] : about_.items()) {
      const double entropy = about["entropy"], sent = about["sent"];
      std::printf("%-18s %9.4f %9.4f %8.4f %12.0f %12.0f\n", name.c_str(), entropy, sent,
                  sent / entropy, speed("encode " + name), speed("decode " + name));
    }
  }

 private:
  // The median speed of 101 calls, in MB/s of input floats.
  double speed(const std::string& question) {
    std::vector<double> seconds;
    for (int i = 0; i < 101; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      actions_.at(question)();
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + 50);
    return static_cast<double>(d_ * sizeof(float)) / seconds[50] / 1e6;
  }

  std::size_t d_;
  std::map<std::string, std::vector<float>> rows_;
  std::map<std::string, Coded> cases_;
  nlohmann::json about_;
  Actions actions_;
};

}  // namespace

int main(int count, char** words) {
  CLI::App app("Entropy-coded messages: length and speed");
  std::size_t dimension = 79510;
  bool table = false;
  app.add_option("--dimension", dimension)->check(CLI::PositiveNumber);
  app.add_flag("--table", table, "time everything and print a table");
  CLI11_PARSE(app, count, words);
  return guarded("bench_entropy", [&] {
    Bench bench(dimension);
    table ? bench.table() : bench.answer_all();
  });
}
